//! State of a thread of a data job: position, data, recorder.

use std::cell::Cell;
use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};

use fslab_model::FailureKind;
use fslab_stats::{Random, mix, mix_bytes};
use fslab_sys::{CallBatch, PageBuffer, SharedCounter};

use super::budget::Budget;
use super::pacer::Pacer;
use super::target::Transfer;
use super::worker_group::WorkerGroup;
use crate::access::{Cursor, Extent, Region, SplitCursor};
use crate::content::{DataPool, FileIdentity, SharedPool};
use crate::jobs::{Amount, DataJob, Direction, Sharing, SyncCall};
use crate::recording::{Clock, Recorder, Slot};
use crate::{EngineError, RunContext};

/// Longest wait before the next look at the stop flag.
const WAIT_NS: u64 = 50_000_000;

/// The next operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) action: Action,
    /// Its range.
    pub(crate) extent: Extent,
}

/// Operations that are issued together.
pub(crate) struct Planned<'b> {
    pub(crate) steps: &'b VecDeque<Step>,
    identity: FileIdentity,
    pool: Option<SharedPool<'b>>,
    buffer: &'b [Cell<u8>],
}

impl<'b> Planned<'b> {
    /// The memory of `step`, a read or write whose other calls are in `batch`; `None` for others.
    pub(crate) fn transfer(&self, step: Step, batch: &mut CallBatch<'b>) -> Option<Transfer<'b>> {
        let Extent { offset, length } = step.extent;
        match (step.action, self.pool) {
            (Action::Read, _) => Some(Transfer::Read(&self.buffer[..length])),
            (Action::Write, Some(pool)) => {
                let data = pool.slice(batch, self.identity, offset, length);
                Some(Transfer::Write(data))
            }
            (Action::Write, None) | (Action::Update, _) => None,
        }
    }
}

/// Action on a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    Read,
    Write,
    /// Read it, change a byte, and write it back.
    Update,
}

/// State of a thread.
pub(crate) struct DataWorker<'a> {
    pub(crate) job: &'a DataJob,
    /// The directory of the job's files.
    root: PathBuf,
    thread: u32,
    pub(crate) identity: FileIdentity,
    pub(crate) region: Region,
    cursor: Cursor,
    /// Where the records have several lengths.
    split: Option<SplitCursor>,
    direction: Random,
    /// The next operations, where they are known before they are issued.
    planned: VecDeque<Step>,
    /// Reads until the next update.
    until_update: u64,
    /// Tickets shared by the threads; `None` if each has a separate amount.
    tickets: Option<&'a SharedCounter>,
    pub(crate) pacer: Pacer,
    pub(crate) recorder: Recorder,
    pub(crate) read: Slot,
    pub(crate) write: Slot,
    pub(crate) update: Slot,
    pub(crate) periodic: Option<Periodic>,
    /// Writes until the next periodic sync; without one, unreachable.
    pub(crate) until_sync: u64,
    pub(crate) closing: Option<(SyncCall, Slot)>,
    /// `None` if nothing is written or verified.
    pub(crate) pool: Option<DataPool>,
    /// Destination of reads.
    pub(crate) buffer: PageBuffer,
}

/// A sync after every `every` writes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Periodic {
    pub(crate) call: SyncCall,
    pub(crate) slot: Slot,
    pub(crate) every: u64,
}

/// A thread of a valid data job, to be prepared.
#[derive(Clone, Copy)]
pub(crate) struct DataThread<'a> {
    pub(crate) context: &'a RunContext,
    pub(crate) job: &'a DataJob,
    /// Its number in the job.
    pub(crate) thread: u32,
    /// Without them, a thread of a job with a total amount does an even share of it.
    pub(crate) tickets: Option<&'a SharedCounter>,
}

impl<'a> DataWorker<'a> {
    /// A thread with all its resources. `holds_data` is false for an engine without data, so that
    /// none is made.
    pub(crate) fn new(of: DataThread<'a>, holds_data: bool) -> Self {
        let DataThread {
            context,
            job,
            thread,
            tickets,
        } = of;
        let mut region = region_of(job, thread);
        // Another number of threads was refused before.
        if let Ok(Some(made)) = context.made.of(&job.file, job.threads) {
            region.bytes = region.bytes.min(made);
        }
        let file = job.file_of(thread);
        let random = |purpose: u64| {
            let mut seed = mix_bytes(context.seed, job.file.as_os_str().as_encoded_bytes());
            if job.stream > 0 {
                seed = mix(seed, job.stream.into());
            }
            Random::new(seed, u64::from(thread) << 8 | purpose)
        };
        let record_bytes = job.record.0.min(region.bytes) as usize;
        let mut recorder = Recorder::new(context.series_interval_ns.max(1));
        let (read, write) = (recorder.slot("read"), recorder.slot("write"));
        let update = recorder.slot("update");
        let periodic = job.sync.periodic().map(|every| Periodic {
            call: every.call,
            slot: recorder.slot(every.call.as_str()),
            every: every.operations,
        });
        let closing = job
            .sync
            .closing
            .map(|call| (call, recorder.slot(call.as_str())));
        let needs_pool = holds_data && (job.makes_data() || job.verify);
        let needs_buffer = holds_data && job.reads();
        Self {
            job,
            root: context.root.clone(),
            thread,
            identity: FileIdentity {
                file: mix_bytes(context.seed, file.as_os_str().as_encoded_bytes()),
                generation: job.generation,
            },
            region,
            cursor: Cursor::new(region, job.access, random(1)).with_zones(&job.zones),
            split: SplitCursor::new(region, job, random(1)),
            direction: random(2),
            planned: VecDeque::new(),
            until_update: 0,
            tickets,
            pacer: Pacer::new(job.pace, random(3)),
            recorder,
            read,
            write,
            update,
            until_sync: periodic.map_or(u64::MAX, |periodic| periodic.every),
            periodic,
            closing,
            pool: needs_pool.then(|| DataPool::new(context.seed, job.content, record_bytes)),
            buffer: PageBuffer::zeroed(if needs_buffer { record_bytes } else { 0 }),
        }
    }

    /// Starts the recording at `now_ns`.
    pub(crate) fn begin(&mut self, now_ns: u64) {
        self.recorder.begin(now_ns);
        self.pacer.begin(now_ns);
    }

    /// The sync that is due, if any; restarts its count.
    #[inline]
    pub(crate) fn sync_due(&mut self) -> Option<Periodic> {
        if self.until_sync > 0 {
            return None;
        }
        self.until_sync = self.periodic.map_or(u64::MAX, |periodic| periodic.every);
        self.periodic
    }

    /// The next operation.
    #[inline]
    pub(crate) fn next_step(&mut self) -> Step {
        match self.planned.pop_front() {
            Some(step) => step,
            None => self.choose_step(),
        }
    }

    /// The next `count` operations, which stay the next ones, with the memory that they use.
    pub(crate) fn plan(&mut self, count: usize) -> Planned<'_> {
        while self.planned.len() < count {
            let step = self.choose_step();
            self.planned.push_back(step);
        }
        Planned {
            steps: &self.planned,
            identity: self.identity,
            pool: self.pool.as_mut().map(DataPool::shared),
            buffer: Cell::from_mut(&mut *self.buffer).as_slice_of_cells(),
        }
    }

    /// Records an operation, and counts it towards the next sync if it has written.
    #[inline]
    pub(crate) fn record(&mut self, step: Step, start_ns: u64, end_ns: u64) {
        let slot = match step.action {
            Action::Read => self.read,
            Action::Write => self.write,
            Action::Update => self.update,
        };
        if step.action != Action::Read {
            self.until_sync -= 1;
        }
        let bytes = step.extent.length as u64;
        self.recorder.operation(slot, start_ns, end_ns, bytes);
    }

    #[inline]
    fn choose_step(&mut self) -> Step {
        let action = match self.job.direction {
            Direction::Read => Action::Read,
            Direction::Write => Action::Write,
            Direction::Update => Action::Update,
            Direction::Mix { read_percent } => {
                if self.direction.below(100) < read_percent.into() {
                    Action::Read
                } else {
                    Action::Write
                }
            }
            Direction::ReadUpdate { every } => self.read_or_update(every),
        };
        Step {
            action,
            extent: match &mut self.split {
                Some(split) => split.next(),
                None => self.cursor.next(),
            },
        }
    }

    /// The first of `every` operations is an update.
    #[inline]
    fn read_or_update(&mut self, every: u64) -> Action {
        if self.until_update == 0 {
            self.until_update = every - 1;
            Action::Update
        } else {
            self.until_update -= 1;
            Action::Read
        }
    }

    /// Changes one byte of the record in the buffer. Position and value follow from the seed, the
    /// file, its generation and the offset; a second update changes the byte again.
    #[inline]
    pub(crate) fn change(&mut self, extent: Extent) {
        let number = mix(
            self.identity.file ^ extent.offset,
            self.identity.generation.into(),
        );
        let at = (number >> 8) % extent.length as u64;
        // An odd addend is not 0, and 256 updates restore the byte.
        let byte = &mut self.buffer[at as usize];
        *byte = byte.wrapping_add((number & 0xff) as u8 | 1);
    }

    /// The budget of the measurement, starting at `now_ns`.
    pub(crate) fn budget(&self, now_ns: u64) -> Budget<'a> {
        let (job, tickets) = (self.job, self.tickets);
        let amount = match job.amount {
            Amount::TotalOperations(total) if tickets.is_none() => {
                Amount::Operations(even_share(total, self.thread, job.threads))
            }
            amount => amount,
        };
        let limit_ns = job.stonewall_ns.or(job.time_limit_ns);
        let until_ns = limit_ns.map_or(u64::MAX, |ns| now_ns.saturating_add(ns));
        (self.budget_of(amount, now_ns))
            .with_tickets(tickets)
            .until(until_ns)
    }

    /// Waits until the job's start; an error if it is stopped before.
    pub(crate) fn wait_for_start(
        &self,
        clock: &impl Clock,
        group: &WorkerGroup<'_>,
    ) -> Result<(), EngineError> {
        if self.job.start_delay_ns == 0 {
            return Ok(());
        }
        let start_ns = clock.now_ns().saturating_add(self.job.start_delay_ns);
        loop {
            let now_ns = clock.now_ns();
            if now_ns >= start_ns {
                return Ok(());
            }
            if group.must_stop() {
                return Err(self.interruption());
            }
            clock.wait_until_ns(start_ns.min(now_ns.saturating_add(WAIT_NS)));
        }
    }

    /// The budget of the ramp-up, which takes no tickets.
    pub(crate) fn ramp_up(&self, now_ns: u64) -> Budget<'a> {
        self.budget_of(Amount::TimeNs(self.job.ramp_up_ns), now_ns)
    }

    /// In a job with a stonewall: waits for all threads, and gives the time after that with the
    /// budget of what this one must still do.
    pub(crate) fn wear_out(
        &self,
        clock: &impl Clock,
        group: &WorkerGroup<'_>,
    ) -> Result<Option<(u64, Budget<'a>)>, EngineError> {
        if self.job.stonewall_ns.is_none() {
            return Ok(None);
        }
        let done = self.recorder.operations();
        let left = group.wear_out(done, || self.interruption())?;
        let left = left.min(self.region.records().saturating_sub(done));
        let now_ns = clock.now_ns();
        let budget = self.budget_of(Amount::Operations(left), now_ns);
        Ok(Some((now_ns, budget)))
    }

    fn budget_of(&self, amount: Amount, now_ns: u64) -> Budget<'a> {
        let (records, record_bytes) = match self.split {
            None => (self.region.records(), self.region.record_bytes),
            Some(_) => {
                let mean_bytes = self.job.mean_record_bytes();
                (self.region.bytes.div_ceil(mean_bytes), mean_bytes)
            }
        };
        Budget::new(amount, records, record_bytes, now_ns)
    }

    /// Compares the buffer with the data written at `extent`, if the job verifies.
    #[inline]
    pub(crate) fn verify(&self, extent: Extent) -> Result<(), EngineError> {
        match &self.pool {
            Some(pool) if self.job.verify => self.verify_with(pool, extent, &self.buffer),
            _ => Ok(()),
        }
    }

    /// Compares `found` with the data written at `extent`.
    #[inline]
    pub(crate) fn verify_with(
        &self,
        pool: &DataPool,
        extent: Extent,
        found: &[u8],
    ) -> Result<(), EngineError> {
        let older = self.job.older_generations;
        pool.verify(self.identity, older, extent.offset, &found[..extent.length])
            .map_err(|message| EngineError::corrupt(&self.path_at(extent.offset), message))
    }

    /// The file with the byte at `offset`.
    fn path_at(&self, offset: u64) -> PathBuf {
        self.root.join(self.job.file_at(self.thread, offset))
    }

    /// The file; if segmented, the pattern of its segments' names.
    fn path(&self) -> PathBuf {
        let mut path = self
            .root
            .join(self.job.file_of(self.thread))
            .into_os_string();
        if self.job.segment.is_some() {
            path.push(".*");
        }
        path.into()
    }

    /// The error of a failed operation on the file.
    #[cold]
    pub(crate) fn failure(&self, operation: &'static str, source: io::Error) -> EngineError {
        self.failure_on(&self.path(), operation, source)
    }

    /// The error of a failed operation at `extent`.
    #[cold]
    pub(crate) fn failure_at(
        &self,
        extent: Extent,
        operation: &'static str,
        source: io::Error,
    ) -> EngineError {
        self.failure_on(&self.path_at(extent.offset), operation, source)
    }

    fn failure_on(&self, path: &Path, operation: &'static str, source: io::Error) -> EngineError {
        let invalid = source.kind() == io::ErrorKind::InvalidInput;
        let error = EngineError::io(operation, path, source);
        if invalid && self.job.direct {
            return error.of_kind(FailureKind::BadInput).hint(
                "with O_DIRECT, records and offsets must be multiples of the device's sector size",
            );
        }
        error
    }

    /// The error of a stopped job.
    #[cold]
    pub(crate) fn interruption(&self) -> EngineError {
        EngineError::interrupted(&self.path())
    }
}

/// The share of thread `thread` of `threads` in `total`.
pub(crate) fn even_share(total: u64, thread: u32, threads: u32) -> u64 {
    let (thread, threads) = (u64::from(thread), u64::from(threads));
    total / threads + u64::from(thread < total % threads)
}

/// The part of its file that thread `thread` accesses.
fn region_of(job: &DataJob, thread: u32) -> Region {
    let file = Region {
        start: job.offset,
        bytes: job.file_size.bytes(),
        record_bytes: job.record.0,
        step_bytes: job.record.0,
    };
    if job.sharing == Sharing::Interleaved {
        let own = even_share(file.records(), thread, job.threads);
        return Region {
            start: file.start + u64::from(thread) * file.record_bytes,
            bytes: own * file.record_bytes,
            step_bytes: u64::from(job.threads) * file.record_bytes,
            ..file
        };
    }
    if job.sharing == Sharing::Own || !job.access.covers() {
        return file;
    }
    let border = |thread: u32| {
        let records = u128::from(file.records()) * u128::from(thread) / u128::from(job.threads);
        (records as u64 * file.record_bytes).min(file.bytes)
    };
    let (from, to) = (border(thread), border(thread + 1));
    Region {
        start: file.start + from,
        bytes: to - from,
        ..file
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Access;

    #[test]
    fn even_shares_add_up() {
        let shares: Vec<_> = (0..3).map(|thread| even_share(8, thread, 3)).collect();
        assert_eq!(shares, [3, 3, 2]);
    }

    #[test]
    fn interleaved_records_are_dealt_out_in_turn() {
        let job = DataJob {
            threads: 3,
            sharing: Sharing::Interleaved,
            offset: 50,
            ..DataJob::read("f", 70, 10)
        };
        let walk = |thread| {
            let region = region_of(&job, thread);
            let mut cursor = Cursor::new(region, Access::Sequential, Random::new(1, 1));
            (0..region.records())
                .map(|_| cursor.next().offset)
                .collect::<Vec<_>>()
        };
        assert_eq!(walk(0), [50, 80, 110]);
        assert_eq!(walk(1), [60, 90]);
        assert_eq!(walk(2), [70, 100]);
    }

    #[test]
    fn threads_that_share_a_file_cover_it_without_overlap() {
        for threads in 1..8 {
            let job = DataJob {
                threads,
                sharing: Sharing::Shared,
                offset: 50,
                ..DataJob::read("f", 1_005, 10)
            };
            let mut at = 50;
            for thread in 0..threads {
                let region = region_of(&job, thread);
                assert_eq!(region.start, at);
                at += region.bytes;
            }
            assert_eq!(at, 1_055);
        }
    }
}
