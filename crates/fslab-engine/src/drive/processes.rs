//! Runs the workers of a job as processes, and collects their reports.
//!
//! Each process has a separate address space, descriptor table and locks, so that contention inside
//! one process is not measured. Results return as JSON through a pipe.

use std::io;
use std::path::Path;
use std::sync::atomic::Ordering;

use fslab_model::{Failure, FailureKind};
use fslab_sys::{WorkerProcess, WorkerSide};

use super::worker_config::WorkerConfig;
use super::worker_group::WorkerGroup;
use crate::recording::ThreadOutcome;
use crate::{EngineError, Ranks};

/// Report of a process.
type Report = Result<ThreadOutcome, Failure>;

/// Runs a process per worker. A process that fails stops the others.
pub(super) fn run_processes<P, Prepare, Run>(
    config: WorkerConfig<'_>,
    prepare: Prepare,
    run: Run,
) -> Result<Vec<Result<ThreadOutcome, EngineError>>, EngineError>
where
    Prepare: Fn(u32) -> Result<P, EngineError>,
    Run: Fn(P, &WorkerGroup<'_>) -> Result<ThreadOutcome, EngineError>,
{
    let work = |number: u32, side: &mut WorkerSide| -> Report {
        let prepared = prepare(number)?;
        side.ready_and_wait()
            .map_err(|e| process_error("start", e))?;
        Ok(run(prepared, &WorkerGroup::new(config))?)
    };
    let fork = |number| {
        WorkerProcess::fork(|side| {
            let report = work(number, side);
            serde_json::to_vec(&report).expect("a report holds numbers, names and sentences")
        })
        .map_err(|e| process_error("fork", e))
    };
    let failed = config.ranks.map(Ranks::failed).unwrap_or_default();
    let gives_up = || config.stop.is_raised() || failed.load(Ordering::Relaxed);
    let prepare_all = || {
        let mut processes = Vec::new();
        for number in 0..config.count {
            processes.push(fork(number)?);
        }
        for process in &mut processes {
            match process.wait_until_ready(gives_up) {
                // A process that failed or died while preparing reports the reason when collected.
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {}
                Err(error) => return Err(process_error("prepare", error)),
            }
        }
        Ok(processes)
    };
    let prepared = prepare_all();
    if let Some(ranks) = config.ranks {
        ranks.start(prepared.is_err());
    }
    let mut processes = prepared?;
    for process in &mut processes {
        // Fails if the process has ended.
        let _ = process.begin();
    }
    let mut results = Vec::new();
    for process in processes {
        let result = collect(process, gives_up);
        let failed = result.is_err();
        results.push(result);
        if failed {
            // Dropping their handles ends the others.
            break;
        }
    }
    Ok(results)
}

fn collect(
    process: WorkerProcess,
    gives_up: impl Fn() -> bool,
) -> Result<ThreadOutcome, EngineError> {
    let bytes = process
        .collect(gives_up)
        .map_err(|e| process_error("run", e))?;
    let report: Report = serde_json::from_slice(&bytes)
        .map_err(|e| process_error("read the report of", io::Error::other(e)))?;
    report.map_err(EngineError::from_failure)
}

pub(super) fn process_error(operation: &'static str, source: io::Error) -> EngineError {
    let given_up = source.kind() == io::ErrorKind::Interrupted;
    let error = EngineError::io(operation, Path::new("a worker process"), source);
    if given_up {
        error.of_kind(FailureKind::Interrupted)
    } else {
        error
    }
}
