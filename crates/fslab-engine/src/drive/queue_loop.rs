//! The loop that keeps many reads and writes in flight.
//!
//! Up to the queue depth is in flight; one system call submits what is queued and waits for a batch.
//! The clock is read once before a batch is queued and once after one completed: the operations of
//! a batch share these times, since the kernel sees and returns them together.

use std::io;

use fslab_sys::{Ring, RingCompletion, RingSync, RingTransfer};

use super::budget::Budget;
use super::data_worker::{DataWorker, Step};
use super::threads::Crew;
use crate::EngineError;
use crate::jobs::SyncCall;
use crate::recording::{Clock, Slot, ThreadOutcome};

/// An operation in flight.
#[derive(Clone, Copy, Debug)]
struct Flight {
    step: Step,
    /// Bytes that were moved by calls that fell short.
    done: usize,
    start_ns: u64,
}

/// One thread's loop with all that it works on.
struct QueueLoop<'a, 'w, C> {
    worker: DataWorker<'w>,
    ring: Ring,
    clock: &'a C,
    crew: &'a Crew<'a>,
    flights: Box<[Option<Flight>]>,
    free: Vec<u32>,
    now_ns: u64,
}

/// Runs the worker's share of its job through `ring`, ramp-up first.
pub(crate) fn run_queue_loop<C: Clock>(
    worker: DataWorker<'_>,
    ring: Ring,
    clock: &C,
    crew: &Crew<'_>,
) -> Result<ThreadOutcome, EngineError> {
    let depth = worker.job.uring.queue_depth;
    let mut running = QueueLoop {
        worker,
        ring,
        clock,
        crew,
        flights: vec![None; depth as usize].into(),
        free: (0..depth).rev().collect(),
        now_ns: clock.now_ns(),
    };
    if running.worker.job.ramp_up_ns > 0 {
        let ramp_up = running.worker.ramp_up(running.now_ns);
        running.issue(ramp_up)?;
    }
    let before = clock.thread_use();
    let start_ns = clock.now_ns();
    running.now_ns = start_ns;
    let budget = running.worker.budget(start_ns);
    running.issue(budget)?;
    if let Some((call, slot)) = running.worker.closing {
        running.sync(call, slot)?;
    }
    let used = clock
        .thread_use()
        .zip(before)
        .map(|(after, before)| after.since(before));
    let QueueLoop {
        worker,
        ring,
        now_ns: end_ns,
        ..
    } = running;
    ring.close().map_err(|e| worker.failure("close", e))?;
    Ok(ThreadOutcome {
        start_ns,
        end_ns,
        recorder: worker.recorder,
        used,
    })
}

impl<C: Clock> QueueLoop<'_, '_, C> {
    /// Issues operations until the budget is used up and all of them are done.
    fn issue(&mut self, mut budget: Budget) -> Result<(), EngineError> {
        self.worker.recorder.begin(self.now_ns);
        self.worker.pacer.begin(self.now_ns);
        loop {
            let more = self.fill(&mut budget)?;
            if self.sync_is_due() {
                self.drain()?;
                self.periodic_sync()?;
                continue;
            }
            if self.ring.in_flight() > 0 {
                self.submit_and_reap(more)?;
            } else if !more {
                return Ok(());
            } else if let Some(due_ns) = self.worker.pacer.due_ns() {
                self.clock.wait_until_ns(due_ns);
                self.now_ns = self.clock.now_ns();
            }
        }
    }

    /// Queues operations while there are budget and free slots; whether more are to come.
    #[inline]
    fn fill(&mut self, budget: &mut Budget) -> Result<bool, EngineError> {
        while !self.free.is_empty() {
            if self.crew.must_stop() {
                return Err(self.worker.interruption());
            }
            if self.sync_is_due() {
                return Ok(true);
            }
            let due_ns = self.worker.pacer.due_ns();
            if due_ns.is_some_and(|due_ns| due_ns > self.now_ns) {
                return Ok(budget.has_more(self.now_ns));
            }
            if !budget.take(self.now_ns) {
                return Ok(false);
            }
            self.worker.pacer.advance();
            self.queue(due_ns.unwrap_or(self.now_ns));
        }
        Ok(budget.has_more(self.now_ns))
    }

    /// Queues the next operation in a free slot.
    #[inline]
    fn queue(&mut self, start_ns: u64) {
        let slot = self.free.pop().expect("the caller looked for a free slot");
        let step = self.worker.next_step();
        if !step.reads {
            let extent = step.extent;
            if let Some(pool) = &mut self.worker.pool {
                let data = pool.slice(self.worker.identity, extent.offset, extent.length);
                self.ring.buffer_mut(slot)[..extent.length].copy_from_slice(data);
            }
            if let Some(periodic) = &mut self.worker.periodic {
                periodic.left -= 1;
            }
        }
        let flight = Flight {
            step,
            done: 0,
            start_ns,
        };
        self.flights[slot as usize] = Some(flight);
        self.queue_rest(slot, flight);
    }

    /// Queues what an operation has not moved yet.
    #[inline]
    fn queue_rest(&mut self, slot: u32, flight: Flight) {
        let Step { reads, extent } = flight.step;
        self.ring.queue(RingTransfer {
            slot,
            within: flight.done,
            length: extent.length - flight.done,
            offset: extent.offset + flight.done as u64,
            reads,
        });
    }

    /// Submits what is queued, waits for a batch, and takes all that is done.
    #[inline]
    fn submit_and_reap(&mut self, more: bool) -> Result<(), EngineError> {
        // In an open loop the next operation may be due before any of these is done.
        let paced = more && self.worker.pacer.due_ns().is_some() && !self.free.is_empty();
        let submitted = if paced {
            self.ring.submit_and_poll()
        } else {
            self.ring.submit_and_wait(self.worker.job.uring.batch)
        };
        submitted.map_err(|e| self.worker.failure("submit to", e))?;
        self.now_ns = self.clock.now_ns();
        while let Some(completion) = self.ring.next_completion() {
            self.complete(completion)?;
        }
        Ok(())
    }

    #[inline]
    fn complete(&mut self, completion: RingCompletion) -> Result<(), EngineError> {
        let slot = completion.slot;
        let Some(mut flight) = self.flights[slot as usize] else {
            // A sync has no flight; its outcome is looked at where it was issued.
            return Ok(());
        };
        let Step { reads, extent } = flight.step;
        let operation = if reads { "read" } else { "write" };
        match completion.result {
            Ok(0) if reads => {
                let short = io::ErrorKind::UnexpectedEof.into();
                return Err(self.worker.failure(operation, short));
            }
            Ok(0) => {
                let full = io::ErrorKind::WriteZero.into();
                return Err(self.worker.failure(operation, full));
            }
            Ok(count) => flight.done += count as usize,
            Err(error) if is_transient(&error) => {}
            Err(error) => return Err(self.worker.failure(operation, error)),
        }
        if flight.done < extent.length {
            self.flights[slot as usize] = Some(flight);
            self.queue_rest(slot, flight);
            return Ok(());
        }
        self.flights[slot as usize] = None;
        let kind = if reads {
            self.worker.read
        } else {
            self.worker.write
        };
        let bytes = extent.length as u64;
        self.worker
            .recorder
            .operation(kind, flight.start_ns, self.now_ns, bytes);
        if reads
            && self.worker.job.verify
            && let Some(pool) = &self.worker.pool
        {
            self.worker
                .verify_with(pool, extent, self.ring.buffer(slot))?;
        }
        self.free.push(slot);
        Ok(())
    }

    /// Waits until nothing is in flight.
    fn drain(&mut self) -> Result<(), EngineError> {
        while self.ring.in_flight() > 0 {
            self.submit_and_reap(false)?;
        }
        Ok(())
    }

    #[inline]
    fn sync_is_due(&self) -> bool {
        matches!(&self.worker.periodic, Some(periodic) if periodic.left == 0)
    }

    fn periodic_sync(&mut self) -> Result<(), EngineError> {
        let Some(periodic) = &mut self.worker.periodic else {
            return Ok(());
        };
        periodic.left = periodic.every;
        let (call, slot) = (periodic.call, periodic.slot);
        self.sync(call, slot)
    }

    /// Issues a sync while nothing else is in flight, and waits for it.
    fn sync(&mut self, call: SyncCall, slot: Slot) -> Result<(), EngineError> {
        debug_assert_eq!(self.ring.in_flight(), 0);
        let request = match call {
            SyncCall::Fsync => RingSync::Fsync,
            SyncCall::Fdatasync => RingSync::Fdatasync,
            SyncCall::FileRange => RingSync::Range,
            SyncCall::Msync => {
                let refused = io::ErrorKind::Unsupported.into();
                return Err(self.worker.failure(call.as_str(), refused));
            }
        };
        let start_ns = self.clock.now_ns();
        self.ring.queue_sync(request, 0);
        let done = self.ring.submit_and_wait(1);
        self.now_ns = self.clock.now_ns();
        done.map_err(|e| self.worker.failure("submit to", e))?;
        let completion = self.ring.next_completion().expect("one was waited for");
        completion
            .result
            .map_err(|e| self.worker.failure(call.as_str(), e))?;
        self.worker.recorder.companion(slot, start_ns, self.now_ns);
        Ok(())
    }
}

/// Whether the kernel asks to try again.
fn is_transient(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock
    )
}
