//! Runs the workers of a job, as threads or processes, and collects their results.

use fslab_model::{CpuUse, FailureKind};

use super::processes::{process_error, run_processes};
use super::threads::run_threads;
use super::worker_config::WorkerConfig;
use super::worker_group::WorkerGroup;
use crate::recording::{ThreadOutcome, cpu_use};
use crate::{EngineError, Workers};

/// Runs the workers of `config`: all are prepared, then start together, and the first error stops
/// all. Returns the outcomes in worker order, and the process's processor use from the common start
/// to the last end, if it is more than the sum of the workers'. In a load of several ranks the
/// workers of all ranks start together, and rank 0 gets the outcomes of all, by rank.
pub(crate) fn run_workers<P, Prepare, Run>(
    config: WorkerConfig<'_>,
    prepare: Prepare,
    run: Run,
) -> Result<(Vec<ThreadOutcome>, Option<CpuUse>), EngineError>
where
    Prepare: Fn(u32) -> Result<P, EngineError> + Sync,
    Run: Fn(P, &WorkerGroup<'_>) -> Result<ThreadOutcome, EngineError> + Sync,
{
    let Some(ranks) = config.ranks else {
        return run_here(config, prepare, run);
    };
    ranks.lower();
    let own = run_here(config, prepare, run);
    if let Some(stonewall) = config.stonewall {
        stonewall.settle();
    }
    let (outcomes, used) = ranks.agree_in_engine("run", own)?;
    ranks
        .gather(outcomes, used)
        .map_err(EngineError::from_failure)
}

/// Runs the workers of this rank.
fn run_here<P, Prepare, Run>(
    config: WorkerConfig<'_>,
    prepare: Prepare,
    run: Run,
) -> Result<(Vec<ThreadOutcome>, Option<CpuUse>), EngineError>
where
    Prepare: Fn(u32) -> Result<P, EngineError> + Sync,
    Run: Fn(P, &WorkerGroup<'_>) -> Result<ThreadOutcome, EngineError> + Sync,
{
    match config.workers {
        Workers::Threads => {
            let (results, used) = run_threads(config, prepare, run);
            Ok((all_or_first_error(results)?, Some(cpu_use(used))))
        }
        // A fork would take memory depending on the program's build: see `fslab_sys::lock_memory`.
        Workers::Processes if fslab_sys::is_memory_locked() => {
            let prepare = |number| {
                fslab_sys::unshare_descriptors().map_err(|error| process_error("start", error))?;
                prepare(number)
            };
            let (results, used) = run_threads(config, prepare, run);
            Ok((all_or_first_error(results)?, Some(cpu_use(used))))
        }
        Workers::Processes => {
            let results = run_processes(config, prepare, run)?;
            Ok((all_or_first_error(results)?, None))
        }
    }
}

/// The outcomes, or the first error other than an interruption: workers stopped by another's error
/// report an interruption.
fn all_or_first_error(
    results: Vec<Result<ThreadOutcome, EngineError>>,
) -> Result<Vec<ThreadOutcome>, EngineError> {
    let is_interruption = |error: &EngineError| error.kind() == FailureKind::Interrupted;
    let mut outcomes = Vec::with_capacity(results.len());
    let mut first: Option<EngineError> = None;
    for result in results {
        match result {
            Ok(outcome) => outcomes.push(outcome),
            Err(error) if first.as_ref().is_none_or(is_interruption) => first = Some(error),
            Err(_) => {}
        }
    }
    first.map_or(Ok(outcomes), Err)
}
