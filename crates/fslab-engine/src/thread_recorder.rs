//! Recording for workloads that issue their operations themselves, as applications do: a recorder
//! per thread, data to write, and a group of threads that start together.
//!
//! The figures are the same as those of the engine's jobs.

use std::sync::atomic::{AtomicU64, Ordering};

use fslab_sys::ResourceUse;

use crate::drive::{WorkerConfig, WorkerGroup, run_workers};
use crate::recording::{Clock, MonotonicClock, Recorder, Slot, ThreadOutcome, combine, cpu_use};
use crate::{EngineError, Measured, RunContext, Workers};
use fslab_stats::{Random, mix};

/// A kind of operation in a [`ThreadRecorder`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperationKind(Slot);

/// Records the operations of one thread.
#[derive(Clone, Debug)]
pub struct ThreadRecorder {
    recorder: Recorder,
    start_ns: u64,
    end_ns: u64,
}

impl ThreadRecorder {
    /// An empty recorder.
    pub fn new(context: &RunContext) -> Self {
        Self {
            recorder: Recorder::new(context.series_interval_ns.max(1)),
            start_ns: 0,
            end_ns: 0,
        }
    }

    /// Adds a kind of operation; allocates, so it must be called before [`ThreadRecorder::begin`].
    pub fn kind(&mut self, name: &'static str) -> OperationKind {
        OperationKind(self.recorder.slot(name))
    }

    /// Now, in nanoseconds on the clock that times operations.
    #[inline]
    pub fn now_ns() -> u64 {
        MonotonicClock.now_ns()
    }

    /// Waits until `at_ns` on that clock.
    pub fn wait_until_ns(at_ns: u64) {
        if fslab_sys::is_time_virtual() {
            // In virtual time a sleep ends exactly on time, and spinning would only cost the host.
            let _ = fslab_sys::sleep_until_ns(at_ns);
        }
        MonotonicClock.wait_until_ns(at_ns);
    }

    /// Starts at `start_ns`. Recorders that are combined later must start at the same time.
    pub fn begin(&mut self, start_ns: u64) {
        self.recorder.begin(start_ns);
        (self.start_ns, self.end_ns) = (start_ns, start_ns);
    }

    /// Records an operation.
    #[inline]
    pub fn operation(&mut self, kind: OperationKind, start_ns: u64, end_ns: u64, bytes: u64) {
        self.recorder.operation(kind.0, start_ns, end_ns, bytes);
        self.end_ns = end_ns;
    }

    /// Records the latency of an auxiliary operation, such as a sync, which is not counted.
    #[inline]
    pub fn auxiliary(&mut self, kind: OperationKind, start_ns: u64, end_ns: u64) {
        self.recorder.auxiliary(kind.0, start_ns, end_ns);
        self.end_ns = end_ns;
    }

    /// Operations recorded so far.
    pub fn operations(&self) -> u64 {
        self.recorder.operations()
    }

    fn outcome(self, used: Option<ResourceUse>) -> ThreadOutcome {
        ThreadOutcome::new(self.start_ns, self.end_ns, self.recorder, used)
    }

    /// The figures of all `recorders`, of which there is at least one, with the process's resource
    /// use. `moves_data` says whether the figures include bytes.
    pub fn measured(recorders: Vec<Self>, used: ResourceUse, moves_data: bool) -> Measured {
        let outcomes = recorders
            .into_iter()
            .map(|recorder| recorder.outcome(None))
            .collect();
        combine(outcomes, Some(cpu_use(used)), moves_data)
    }
}

/// Runs `threads` threads that are prepared, then start together, with a recorder each; the first
/// error stops all. `run` gets the prepared value, its recorder, and a function to be called once
/// per operation that returns true if the thread must stop.
pub fn run_recorded_threads<P, Prepare, Run>(
    context: &RunContext,
    threads: u32,
    prepare: Prepare,
    run: Run,
) -> Result<Measured, EngineError>
where
    P: Send,
    Prepare: Fn(u32, &mut ThreadRecorder) -> Result<P, EngineError> + Sync,
    Run: Fn(P, &mut ThreadRecorder, &dyn Fn() -> bool) -> Result<(), EngineError> + Sync,
{
    let config = WorkerConfig {
        count: threads.max(1),
        workers: Workers::Threads,
        stop: &context.stop,
        ranks: context.ranks.as_ref(),
        stonewall: None,
    };
    // The first thread sets the start time of all series.
    let common = AtomicU64::new(0);
    let prepare = |thread| {
        let mut recorder = ThreadRecorder::new(context);
        let prepared = prepare(thread, &mut recorder)?;
        Ok((prepared, recorder))
    };
    let work = |(prepared, mut recorder): (P, ThreadRecorder), group: &WorkerGroup<'_>| {
        let before = ResourceUse::of_thread();
        let now_ns = ThreadRecorder::now_ns();
        let first = common.compare_exchange(0, now_ns, Ordering::AcqRel, Ordering::Acquire);
        recorder.begin(first.map_or_else(|earlier| earlier, |_| now_ns));
        run(prepared, &mut recorder, &|| group.must_stop())?;
        Ok(recorder.outcome(Some(ResourceUse::of_thread().since(before))))
    };
    let (outcomes, used) = run_workers(config, prepare, work)?;
    Ok(combine(outcomes, used, true))
}

/// Data to write: incompressible, without duplicate blocks, determined by the seed.
#[derive(Debug)]
pub struct Filler {
    seed: u64,
    bytes: Vec<u8>,
}

/// Size of blocks that a file system might deduplicate.
const BLOCK_BYTES: usize = 4096;

impl Filler {
    /// Data for writes of up to `longest` bytes.
    pub fn new(seed: u64, longest: usize) -> Self {
        let mut bytes = vec![0; longest.next_multiple_of(8)];
        Random::new(seed, 0x6669_6c6c).fill(&mut bytes);
        Self { seed, bytes }
    }

    /// `length` bytes for `file`, a number chosen by the caller, at `offset`.
    #[inline]
    pub fn bytes(&mut self, file: u64, offset: u64, length: usize) -> &[u8] {
        let state = mix(self.seed, file);
        for (turn, block) in (0..).zip(self.bytes[..length].chunks_mut(BLOCK_BYTES)) {
            let stamp = mix(state, offset + turn * BLOCK_BYTES as u64).to_le_bytes();
            let stamped = stamp.len().min(block.len());
            block[..stamped].copy_from_slice(&stamp[..stamped]);
        }
        &self.bytes[..length]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::EngineKind;

    #[test]
    fn threads_start_together_and_their_recorders_are_combined() {
        let context = RunContext::new(EngineKind::Psync, "/nowhere", 1);
        let measured = run_recorded_threads(
            &context,
            3,
            |thread, recorder| Ok((u64::from(thread), recorder.kind("work"))),
            |(thread, kind), recorder, _| {
                for _ in 0..=thread {
                    let now_ns = ThreadRecorder::now_ns();
                    recorder.operation(kind, now_ns, now_ns + 5, 10);
                }
                Ok(())
            },
        )
        .expect("nothing fails");
        assert_eq!((measured.operations, measured.bytes), (6, Some(60)));
        assert_eq!(measured.threads.len(), 3);
        let latency = measured.latency("work").expect("was noted");
        assert_eq!((latency.count(), latency.max_ns()), (6, Some(5)));
    }

    #[test]
    fn no_block_is_written_twice_and_the_seed_determines_them() {
        let mut filler = Filler::new(1, 100_000);
        let first = filler.bytes(7, 0, 8192).to_vec();
        let blocks: std::collections::HashSet<_> = first.chunks(BLOCK_BYTES).collect();
        assert_eq!(blocks.len(), 2);
        assert_ne!(filler.bytes(7, 8192, 8192), first);
        assert_ne!(filler.bytes(8, 0, 8192), first);
        assert_eq!(Filler::new(1, 100_000).bytes(7, 0, 8192), first);
        assert_eq!(filler.bytes(7, 0, 3).len(), 3);
    }
}
