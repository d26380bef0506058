//! Starts the threads of a job together, and brings their results home.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};

use fslab_model::FailureKind;
use fslab_sys::ResourceUse;

use crate::recording::ThreadOutcome;
use crate::{EngineError, StopFlag};

/// What the threads of one job share: whether they are to stop.
pub(crate) struct Crew<'a> {
    stop: &'a StopFlag,
    failed: AtomicBool,
}

impl Crew<'_> {
    /// Whether somebody wants the job to end, or one of its threads has failed.
    #[inline]
    pub(crate) fn must_stop(&self) -> bool {
        self.stop.is_raised() || self.failed.load(Ordering::Relaxed)
    }
}

/// Runs `count` threads: each prepares itself, all begin together, and the first error ends all.
/// A single thread is the caller's own. Gives the outcomes in the order of the threads, and the
/// process' use of the processor from the common start to the last end.
pub(crate) fn run_threads<P, Prepare, Run>(
    count: u32,
    stop: &StopFlag,
    prepare: Prepare,
    run: Run,
) -> Result<(Vec<ThreadOutcome>, ResourceUse), EngineError>
where
    Prepare: Fn(u32) -> Result<P, EngineError> + Sync,
    Run: Fn(P, &Crew<'_>) -> Result<ThreadOutcome, EngineError> + Sync,
{
    let crew = Crew {
        stop,
        failed: AtomicBool::new(false),
    };
    if count == 1 {
        let prepared = prepare(0)?;
        let before = ResourceUse::of_process();
        let outcome = run(prepared, &crew)?;
        return Ok((vec![outcome], ResourceUse::of_process().since(before)));
    }
    let ready = Barrier::new(count as usize + 1);
    let begin = Barrier::new(count as usize + 1);
    let work = &|thread: u32| {
        let prepared = prepare(thread).inspect_err(|_| crew.failed.store(true, Ordering::Relaxed));
        ready.wait();
        begin.wait();
        run(prepared?, &crew).inspect_err(|_| crew.failed.store(true, Ordering::Relaxed))
    };
    let (results, used) = std::thread::scope(|scope| {
        let spawn = |thread| scope.spawn(move || work(thread));
        let handles: Vec<_> = (0..count).map(spawn).collect();
        ready.wait();
        let before = ResourceUse::of_process();
        begin.wait();
        let join = |handle: std::thread::ScopedJoinHandle<'_, _>| match handle.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        let results: Vec<_> = handles.into_iter().map(join).collect();
        (results, ResourceUse::of_process().since(before))
    });
    let mut outcomes = Vec::with_capacity(results.len());
    let mut first: Option<EngineError> = None;
    for result in results {
        match result {
            Ok(outcome) => outcomes.push(outcome),
            // Threads that were stopped because of another one report an interruption.
            Err(error) if first.as_ref().is_none_or(is_interruption) => first = Some(error),
            Err(_) => {}
        }
    }
    first.map_or(Ok((outcomes, used)), Err)
}

fn is_interruption(error: &EngineError) -> bool {
    error.kind() == FailureKind::Interrupted
}
