//! Runs the workers of a job as threads.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier};
use std::thread::ScopedJoinHandle;

use fslab_sys::{CallArray, ResourceUse, TakenCallArray};

use super::Stonewall;
use super::workers::WorkerConfig;
use crate::recording::ThreadOutcome;
use crate::{EngineError, Ranks, StopFlag, Workers};

/// Stop condition shared by the threads of a job.
pub(crate) struct WorkerGroup<'a> {
    stop: &'a StopFlag,
    failed: Arc<AtomicBool>,
    /// True if no other worker runs.
    is_single: bool,
    stonewall: Option<&'a Stonewall<'a>>,
}

impl<'a> WorkerGroup<'a> {
    /// The group of `config`; a failure of another rank stops it, too.
    pub(super) fn new(config: WorkerConfig<'a>) -> Self {
        Self {
            stop: config.stop,
            failed: config.ranks.map(Ranks::failed).unwrap_or_default(),
            is_single: config.count == 1 && config.ranks.is_none(),
            stonewall: config.stonewall,
        }
    }

    /// This process's array of system calls, if it has one and a single worker, whose operations
    /// may be issued together.
    pub(crate) fn call_array(&self) -> Option<TakenCallArray> {
        self.is_single.then(CallArray::take).flatten()
    }

    /// Waits until the workers of all ranks are prepared.
    fn start(&self, config: WorkerConfig<'_>) {
        if let Some(ranks) = config.ranks {
            ranks.start(self.failed.load(Ordering::Relaxed));
        }
    }

    /// In a job with a stonewall: waits for all threads, after this one has done `operations`, and
    /// gives how many it must still do; 0 without one. `interruption` is the error of a stopped
    /// job.
    pub(crate) fn wear_out(
        &self,
        operations: u64,
        interruption: impl FnOnce() -> EngineError,
    ) -> Result<u64, EngineError> {
        let Some(stonewall) = self.stonewall else {
            return Ok(0);
        };
        let met = stonewall.meet(operations, || self.must_stop());
        let most = met.ok_or_else(interruption)??;
        Ok(most.saturating_sub(operations))
    }

    /// Marks the group as failed.
    fn fail(&self) {
        self.failed.store(true, Ordering::Relaxed);
    }

    /// Runs `work`; if it fails or panics, the other threads stop, too.
    fn or_fail<T>(
        &self,
        work: impl FnOnce() -> Result<T, EngineError>,
    ) -> std::thread::Result<Result<T, EngineError>> {
        let result = catch_unwind(AssertUnwindSafe(work));
        if !matches!(result, Ok(Ok(_))) {
            self.fail();
        }
        result
    }

    /// True if the job is to stop or one of its threads has failed.
    #[inline]
    pub(crate) fn must_stop(&self) -> bool {
        self.stop.is_raised() || self.failed.load(Ordering::Relaxed)
    }
}

/// Runs a thread per worker; a single worker runs on the calling thread, unless it replaces a
/// process. Returns the results, and the process's resource use from the common start to the last
/// end.
pub(super) fn run_threads<P, Prepare, Run>(
    config: WorkerConfig<'_>,
    prepare: Prepare,
    run: Run,
) -> (Vec<Result<ThreadOutcome, EngineError>>, ResourceUse)
where
    Prepare: Fn(u32) -> Result<P, EngineError> + Sync,
    Run: Fn(P, &WorkerGroup<'_>) -> Result<ThreadOutcome, EngineError> + Sync,
{
    let group = WorkerGroup::new(config);
    if config.count == 1 && config.workers == Workers::Threads {
        let prepared = group.or_fail(|| prepare(0));
        let prepared = prepared.unwrap_or_else(|panic| resume_unwind(panic));
        group.start(config);
        let before = ResourceUse::of_process();
        let result = prepared.and_then(|prepared| run(prepared, &group));
        return (vec![result], ResourceUse::of_process().since(before));
    }
    let ready = Barrier::new(config.count as usize + 1);
    let begin = Barrier::new(config.count as usize + 1);
    let work = &|thread: u32| {
        // A thread that panics must still reach the barriers, where the others wait.
        let prepared = group.or_fail(|| prepare(thread));
        ready.wait();
        begin.wait();
        let prepared = prepared.unwrap_or_else(|panic| resume_unwind(panic))?;
        let result = group.or_fail(|| run(prepared, &group));
        result.unwrap_or_else(|panic| resume_unwind(panic))
    };
    std::thread::scope(|scope| {
        let spawn = |thread| scope.spawn(move || work(thread));
        let handles: Vec<_> = (0..config.count).map(spawn).collect();
        ready.wait();
        group.start(config);
        let before = ResourceUse::of_process();
        begin.wait();
        let join = |handle: ScopedJoinHandle<'_, _>| match handle.join() {
            Ok(result) => result,
            Err(panic) => resume_unwind(panic),
        };
        let results = handles.into_iter().map(join).collect();
        (results, ResourceUse::of_process().since(before))
    })
}

#[cfg(test)]
mod tests {
    use super::super::processes::process_error;
    use super::*;

    /// The other threads, and the one that waited for them, had stayed at the barrier forever.
    #[test]
    fn a_panic_while_preparing_or_running_ends_the_job() {
        let stop = StopFlag::new();
        let config = WorkerConfig {
            count: 3,
            workers: Workers::Threads,
            stop: &stop,
            ranks: None,
            stonewall: None,
        };
        for panics_in_prepare in [true, false] {
            let ended = catch_unwind(AssertUnwindSafe(|| {
                run_threads(
                    config,
                    |thread| {
                        assert!(thread != 1 || !panics_in_prepare, "panics while prepared");
                        Ok(thread)
                    },
                    |thread, group| {
                        assert!(thread != 1, "panics while it runs");
                        while !group.must_stop() {
                            std::thread::yield_now();
                        }
                        Err(process_error(
                            "stop",
                            std::io::ErrorKind::Interrupted.into(),
                        ))
                    },
                )
            }));
            assert!(ended.is_err(), "the panic is passed on");
        }
    }
}
