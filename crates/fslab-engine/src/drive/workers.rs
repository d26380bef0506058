//! Runs the workers of a job, threads or processes, and brings their results home.

use fslab_model::FailureKind;
use fslab_sys::ResourceUse;

use super::processes::{process_error, run_processes};
use super::threads::{WorkerGroup, run_threads};
use crate::recording::ThreadOutcome;
use crate::{EngineError, MetadataJob, RunContext, StopFlag, Workers};

/// Who does the work.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WorkerConfig<'a> {
    /// How many.
    pub(crate) count: u32,
    /// Of what kind.
    pub(crate) workers: Workers,
    /// Raised by whoever wants them to end.
    pub(crate) stop: &'a StopFlag,
}

impl<'a> WorkerConfig<'a> {
    /// The workers that `job` asks for.
    pub(crate) fn for_metadata(context: &'a RunContext, job: &MetadataJob) -> Self {
        Self {
            count: job.threads,
            workers: job.workers,
            stop: &context.stop,
        }
    }

    /// As many threads, whatever was asked for.
    pub(crate) fn as_threads(self) -> Self {
        Self {
            workers: Workers::Threads,
            ..self
        }
    }
}

/// Runs the workers of `config`: each prepares itself, all begin together, and the first error ends
/// all. Gives the outcomes in the order of the workers, and the use of the processor from the
/// common start to the last end, where it is more than the sum of theirs.
pub(crate) fn run_workers<P, Prepare, Run>(
    config: WorkerConfig<'_>,
    prepare: Prepare,
    run: Run,
) -> Result<(Vec<ThreadOutcome>, Option<ResourceUse>), EngineError>
where
    Prepare: Fn(u32) -> Result<P, EngineError> + Sync,
    Run: Fn(P, &WorkerGroup<'_>) -> Result<ThreadOutcome, EngineError> + Sync,
{
    match config.workers {
        Workers::Threads => {
            let (results, used) = run_threads(config, prepare, run);
            Ok((all_or_first_error(results)?, Some(used)))
        }
        // A fork would take memory by how the program was built: see `fslab_sys::hold_memory`.
        Workers::Processes if fslab_sys::is_memory_held() => {
            let prepare = |number| {
                fslab_sys::take_descriptors().map_err(|error| process_error("start", error))?;
                prepare(number)
            };
            let (results, used) = run_threads(config, prepare, run);
            Ok((all_or_first_error(results)?, Some(used)))
        }
        Workers::Processes => {
            let results = run_processes(config, prepare, run)?;
            Ok((all_or_first_error(results)?, None))
        }
    }
}

/// The outcomes, or the error that came first: workers that were stopped because of another one
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
