//! Runs the workers of a job as threads.

use std::panic::resume_unwind;
use std::sync::Barrier;
use std::thread::ScopedJoinHandle;

use fslab_sys::ResourceUse;

use super::worker_config::WorkerConfig;
use super::worker_group::WorkerGroup;
use crate::recording::ThreadOutcome;
use crate::{EngineError, Workers};

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
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::super::processes::process_error;
    use super::*;
    use crate::StopFlag;

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
