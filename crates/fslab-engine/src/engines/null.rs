//! The null engine: each operation takes a pseudo-random time on a synthetic clock.
//!
//! The same seed and job give the same figures on every machine, so that the layers above the
//! engines can be tested without files, privileges or time.

use std::ffi::CStr;
use std::io;
use std::ops::Range;

use fslab_stats::{Random, mix_bytes};

use crate::access::{Extent, Permutation};
use crate::drive::{
    DataTarget, DataThread, DataWorker, NamesTarget, NamesWorker, ReadyWorker, Stonewall, Task,
    WorkerConfig, run_data_loop, run_names_loop, run_workers,
};
use crate::engine::{DataEngine, Engine};
use crate::jobs::{MetadataOperation, Names, SyncCall};
use crate::recording::{Clock, SyntheticClock, combine};
use crate::{EngineError, EngineKind, Measured, MetadataJob, RunContext};

pub(crate) const NULL: Engine = Engine {
    kind: EngineKind::Null,
    data: DataEngine {
        keeps_files: false,
        check: |_| Ok(()),
        prepare,
    },
    run_metadata: Some(run_metadata),
};

/// Cost of an operation on a record, besides its bytes.
const RECORD_NS: u64 = 2_000;
/// Bytes per nanosecond: 4 GB/s.
const BYTES_PER_NS: u64 = 4;
/// Cost of a sync.
const SYNC_NS: u64 = 400_000;
/// One operation in this many is much slower, which gives distributions a tail.
const SLOW_ONE_IN: u64 = 100;

fn prepare(of: DataThread<'_>) -> Result<ReadyWorker<'_>, EngineError> {
    let worker = DataWorker::new(of, false);
    let thread = of.thread;
    let seed = mix_bytes(of.context.seed, of.job.file.as_os_str().as_encoded_bytes());
    Ok(Box::new(move |group| {
        let clock = SyntheticClock::default();
        let target = NullTarget::new(&clock, seed, thread);
        run_data_loop(worker, target, &clock, group)
    }))
}

fn run_metadata(
    context: &RunContext,
    job: &MetadataJob,
    threads: Range<u32>,
    stonewall: Option<&Stonewall<'_>>,
) -> Result<Measured, EngineError> {
    let config = WorkerConfig::for_metadata(context, job, &threads, stonewall).as_threads();
    let prepare = |number| {
        let thread = threads.start + number;
        Ok((thread, NamesWorker::new(context, job, thread)))
    };
    let (outcomes, _) = run_workers(config, prepare, |(thread, worker), group| {
        let clock = SyntheticClock::default();
        let seed = mix_bytes(context.seed, job.operation.as_str().as_bytes());
        let target = NullTarget::new(&clock, seed, thread);
        run_names_loop(worker, target, &clock, group)
    })?;
    Ok(combine(outcomes, None, job.moves_data()))
}

/// A file or directory that does not exist.
pub(crate) struct NullTarget<'c, C> {
    clock: &'c C,
    random: Random,
    /// False if operations cost nothing.
    costs: bool,
}

impl<'c, C: Clock> NullTarget<'c, C> {
    /// A target whose costs follow from `seed` and `thread`.
    pub(crate) fn new(clock: &'c C, seed: u64, thread: u32) -> Self {
        Self {
            clock,
            random: Random::new(seed, u64::from(thread) << 8 | 0xff),
            costs: true,
        }
    }

    /// A target whose operations cost nothing, to measure the harness.
    pub(crate) fn instant(clock: &'c C) -> Self {
        Self {
            costs: false,
            ..Self::new(clock, 0, 0)
        }
    }

    /// Advances the clock by the cost of an operation of about `base_ns` with `bytes` bytes.
    #[inline]
    fn pass(&mut self, base_ns: u64, bytes: u64) {
        if !self.costs {
            return;
        }
        let draw = self.random.below(base_ns * SLOW_ONE_IN);
        let slow_ns = if draw < base_ns { base_ns * 20 } else { 0 };
        self.clock
            .pass_ns(base_ns / 2 + draw / SLOW_ONE_IN + slow_ns + bytes / BYTES_PER_NS);
    }
}

impl<C: Clock> DataTarget for NullTarget<'_, C> {
    const HOLDS_DATA: bool = false;

    #[inline]
    fn read(&mut self, extent: Extent, _into: &mut [u8]) -> io::Result<()> {
        self.pass(RECORD_NS, extent.length as u64);
        Ok(())
    }

    #[inline]
    fn write(&mut self, extent: Extent, _data: &[u8]) -> io::Result<()> {
        self.pass(RECORD_NS, extent.length as u64);
        Ok(())
    }

    fn sync(&mut self, _call: SyncCall) -> io::Result<()> {
        self.pass(SYNC_NS, 0);
        Ok(())
    }

    fn close(self) -> io::Result<()> {
        Ok(())
    }
}

impl<C: Clock> NamesTarget for NullTarget<'_, C> {
    type Created = ();

    fn make_directory(&mut self, _name: &CStr) -> io::Result<()> {
        self.pass(cost_ns(MetadataOperation::Mkdir), 0);
        Ok(())
    }

    fn remove_directory(&mut self, _name: &CStr) -> io::Result<()> {
        self.pass(cost_ns(MetadataOperation::Rmdir), 0);
        Ok(())
    }

    fn unlink(&mut self, _name: &CStr) -> io::Result<()> {
        self.pass(cost_ns(MetadataOperation::Unlink), 0);
        Ok(())
    }

    fn ensure_directory(&mut self, name: &CStr) -> io::Result<()> {
        self.make_directory(name)
    }

    fn replace(&mut self, task: &Task<'_>) -> io::Result<()> {
        self.pass(cost_ns(MetadataOperation::Unlink), 0);
        self.create(task)
    }

    fn create(&mut self, task: &Task<'_>) -> io::Result<()> {
        self.pass(cost_ns(task.operation), task.bytes);
        Ok(())
    }

    fn fsync_created(&mut self, (): &mut ()) -> io::Result<()> {
        self.pass(SYNC_NS, 0);
        Ok(())
    }

    fn close_created(&mut self, (): ()) -> io::Result<()> {
        Ok(())
    }

    fn perform(&mut self, task: &Task<'_>) -> io::Result<u64> {
        let bytes = if task.operation.reads_data() {
            task.bytes
        } else {
            0
        };
        self.pass(cost_ns(task.operation), bytes);
        Ok(bytes)
    }

    fn verify(&self, _task: &Task<'_>) -> Result<(), String> {
        Ok(())
    }

    fn list(
        &mut self,
        _name: &CStr,
        _names: Names,
        files: Range<u64>,
        into: &mut Vec<u64>,
    ) -> io::Result<()> {
        self.pass(cost_ns(MetadataOperation::List), 0);
        let count = files.end - files.start;
        if count > 0 {
            let order = Permutation::new(count, &mut self.random);
            into.extend((0..count).map(|turn| files.start + order.at(turn)));
        }
        Ok(())
    }

    fn entries(&mut self, name: &CStr, into: &mut Vec<u8>) -> io::Result<()> {
        self.pass(cost_ns(MetadataOperation::List), 0);
        // The base contains some directories, and each of them some files.
        let is_directory = u8::from(name == c".");
        for entry in [c"0", c"1", c"2", c"3"] {
            into.push(is_directory);
            into.extend_from_slice(entry.to_bytes_with_nul());
        }
        Ok(())
    }

    fn fsync_directory(&mut self, _name: &CStr) -> io::Result<()> {
        self.pass(SYNC_NS, 0);
        Ok(())
    }

    fn sync_file_system(&mut self) -> io::Result<()> {
        self.pass(10 * SYNC_NS, 0);
        Ok(())
    }
}

/// Approximate cost of an operation, in the proportions of a common disk file system.
fn cost_ns(operation: MetadataOperation) -> u64 {
    use MetadataOperation as Operation;
    match operation {
        Operation::Create | Operation::Replace | Operation::Turnover => 12_000,
        Operation::Mkdir | Operation::Symlink => 12_000,
        Operation::Unlink | Operation::Rmdir | Operation::RemoveAll => 9_000,
        Operation::Rename | Operation::Link => 9_000,
        Operation::Truncate | Operation::Fallocate | Operation::SetXattr => 6_000,
        Operation::Read => 4_000,
        Operation::List => 60_000,
        Operation::Chmod | Operation::Chown | Operation::Utimens => 2_000,
        Operation::Open | Operation::Stat | Operation::Readlink | Operation::GetXattr => 1_000,
        Operation::FsyncFile | Operation::FsyncDirectory => SYNC_NS,
    }
}
