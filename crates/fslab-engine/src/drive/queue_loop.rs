//! The loop that keeps many reads and writes in flight.
//!
//! Up to the queue depth is in flight; one system call submits the queue and waits for a batch. The
//! clock is read once after each call: operations that completed with it share their end time, and
//! those queued next share their start time, as the kernel processes them together.

use std::io;

use fslab_sys::{Ring, RingCompletion, RingSync, RingTransfer};

use super::budget::Budget;
use super::data_worker::{Action, DataWorker, Step};
use super::worker_group::WorkerGroup;
use crate::EngineError;
use crate::access::Extent;
use crate::jobs::SyncCall;
use crate::recording::{Clock, Slot, ThreadOutcome};

/// An operation in flight.
#[derive(Clone, Copy, Debug)]
struct Flight {
    reads: bool,
    /// Offset in the file.
    offset: u64,
    length: u32,
    /// Bytes done by earlier short transfers.
    done: u32,
    start_ns: u64,
}

impl Flight {
    const NONE: Self = Self {
        reads: true,
        offset: 0,
        length: 0,
        done: 0,
        start_ns: 0,
    };

    fn operation(self) -> &'static str {
        if self.reads { "read" } else { "write" }
    }

    fn extent(self) -> Extent {
        Extent {
            offset: self.offset,
            length: self.length as usize,
        }
    }
}

/// The loop of one thread.
struct QueueLoop<'a, 'w, C> {
    worker: DataWorker<'w>,
    ring: Ring,
    clock: &'a C,
    group: &'a WorkerGroup<'a>,
    flights: Box<[Flight]>,
    free: Vec<u32>,
    now_ns: u64,
}

/// Runs the worker's part of its job through `ring`, including the ramp-up.
pub(crate) fn run_queue_loop<C: Clock>(
    worker: DataWorker<'_>,
    ring: Ring,
    clock: &C,
    group: &WorkerGroup<'_>,
) -> Result<ThreadOutcome, EngineError> {
    worker.wait_for_start(clock, group)?;
    let depth = worker.job.uring.queue_depth;
    let mut running = QueueLoop {
        worker,
        ring,
        clock,
        group,
        flights: vec![Flight::NONE; depth as usize].into(),
        free: (0..depth).rev().collect(),
        now_ns: clock.now_ns(),
    };
    if running.worker.job.ramp_up_ns > 0 {
        let ramp_up = running.worker.ramp_up(running.now_ns);
        running.worker.begin(running.now_ns);
        running.issue(ramp_up)?;
    }
    let before = clock.thread_use();
    let start_ns = clock.now_ns();
    running.now_ns = start_ns;
    let budget = running.worker.budget(start_ns);
    running.worker.begin(start_ns);
    running.issue(budget)?;
    if let Some((now_ns, budget)) = running.worker.wear_out(clock, group)? {
        running.now_ns = now_ns;
        running.issue(budget)?;
    }
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
    let recorder = worker.recorder;
    Ok(ThreadOutcome::new(start_ns, end_ns, recorder, used))
}

impl<C: Clock> QueueLoop<'_, '_, C> {
    /// Issues operations until the budget is used up and all have completed.
    fn issue(&mut self, mut budget: Budget<'_>) -> Result<(), EngineError> {
        loop {
            let more = self.fill(&mut budget)?;
            if self.worker.until_sync == 0 {
                self.drain()?;
                if let Some(periodic) = self.worker.sync_due() {
                    self.sync(periodic.call, periodic.slot)?;
                }
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

    /// Queues operations while there are budget and free slots; true if more will follow.
    #[inline]
    fn fill(&mut self, budget: &mut Budget<'_>) -> Result<bool, EngineError> {
        if self.group.must_stop() {
            return Err(self.worker.interruption());
        }
        while !self.free.is_empty() {
            if self.worker.until_sync == 0 {
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
        let Step { action, extent } = self.worker.next_step();
        // The engine's check has refused updates.
        let reads = action == Action::Read;
        if !reads {
            if let Some(pool) = &mut self.worker.pool {
                let data = pool.slice(self.worker.identity, extent.offset, extent.length);
                self.ring.buffer_mut(slot)[..extent.length].copy_from_slice(data);
            }
            self.worker.until_sync -= 1;
        }
        let flight = Flight {
            reads,
            offset: extent.offset,
            length: extent.length as u32,
            done: 0,
            start_ns,
        };
        self.flights[slot as usize] = flight;
        self.queue_rest(slot, flight);
    }

    /// Queues the rest of an operation.
    #[inline]
    fn queue_rest(&mut self, slot: u32, flight: Flight) {
        self.ring.queue(RingTransfer {
            slot,
            within: flight.done as usize,
            length: (flight.length - flight.done) as usize,
            offset: flight.offset + u64::from(flight.done),
            reads: flight.reads,
        });
    }

    /// Submits the queue, waits for a batch, and takes all completions.
    #[inline]
    fn submit_and_reap(&mut self, more: bool) -> Result<(), EngineError> {
        // In an open loop the next operation may be due before any completion.
        let paced = more && self.worker.pacer.due_ns().is_some() && !self.free.is_empty();
        let submitted = if paced {
            self.ring.submit_and_poll()
        } else {
            self.ring.submit_and_wait(self.worker.job.uring.batch)
        };
        submitted.map_err(|e| self.worker.failure("submit to", e))?;
        self.now_ns = self.clock.now_ns();
        for index in 0..self.ring.take_completions() {
            let completion = self.ring.completion(index);
            self.complete(completion)?;
        }
        Ok(())
    }

    #[inline(always)]
    fn complete(&mut self, completion: RingCompletion) -> Result<(), EngineError> {
        let slot = completion.slot;
        let flight = self.flights[slot as usize];
        match completion.result {
            Ok(count) if flight.done + count == flight.length => {}
            result => return self.fell_short(slot, flight, result),
        }
        let (recorder, bytes) = (&mut self.worker.recorder, u64::from(flight.length));
        let kind = if flight.reads {
            self.worker.read
        } else {
            self.worker.write
        };
        recorder.operation(kind, flight.start_ns, self.now_ns, bytes);
        if flight.reads
            && let Some(pool) = &self.worker.pool
            && self.worker.job.verify
        {
            let found = self.ring.buffer(slot);
            self.worker.verify_with(pool, flight.extent(), found)?;
        }
        self.free.push(slot);
        Ok(())
    }

    /// Handles a short transfer: queues the rest, or fails.
    #[cold]
    fn fell_short(
        &mut self,
        slot: u32,
        mut flight: Flight,
        result: io::Result<u32>,
    ) -> Result<(), EngineError> {
        let failure = match result {
            Ok(0) if flight.reads => Some(io::ErrorKind::UnexpectedEof.into()),
            Ok(0) => Some(io::ErrorKind::WriteZero.into()),
            Ok(count) => {
                flight.done += count;
                None
            }
            Err(error) => Some(error).filter(|error| !is_transient(error)),
        };
        if let Some(failure) = failure {
            return Err(self
                .worker
                .failure_at(flight.extent(), flight.operation(), failure));
        }
        self.flights[slot as usize] = flight;
        self.queue_rest(slot, flight);
        Ok(())
    }

    /// Waits until nothing is in flight.
    fn drain(&mut self) -> Result<(), EngineError> {
        while self.ring.in_flight() > 0 {
            self.submit_and_reap(false)?;
        }
        Ok(())
    }

    /// Issues a sync while nothing else is in flight, and waits for it.
    fn sync(&mut self, call: SyncCall, slot: Slot) -> Result<(), EngineError> {
        debug_assert_eq!(self.ring.in_flight(), 0);
        let request = match call {
            SyncCall::Fsync => RingSync::Fsync,
            SyncCall::Fdatasync => RingSync::Fdatasync,
            SyncCall::FileRange => RingSync::Range,
            SyncCall::Msync | SyncCall::Barrier | SyncCall::Drive => {
                let refused = io::ErrorKind::Unsupported.into();
                return Err(self.worker.failure(call.as_str(), refused));
            }
        };
        let start_ns = self.clock.now_ns();
        self.ring.queue_sync(request, 0);
        let done = self.ring.submit_and_wait(1);
        self.now_ns = self.clock.now_ns();
        done.map_err(|e| self.worker.failure("submit to", e))?;
        let taken = self.ring.take_completions();
        assert_eq!(
            taken, 1,
            "a sync was waited for, and nothing else is in flight"
        );
        let completion = self.ring.completion(0);
        completion
            .result
            .map_err(|e| self.worker.failure(call.as_str(), e))?;
        self.worker.recorder.auxiliary(slot, start_ns, self.now_ns);
        Ok(())
    }
}

/// True if the operation is to be retried.
fn is_transient(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock
    )
}
