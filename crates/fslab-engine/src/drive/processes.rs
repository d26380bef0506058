//! Starts the processes of a job together, and reads what they report.
//!
//! A process has an address space, a table of open files and locks of its own, so that what is
//! measured is not contention inside one process. What it found comes back as JSON on a pipe.

use std::io;
use std::path::Path;

use fslab_model::{Failure, FailureKind};
use fslab_sys::{WorkerProcess, WorkerSide};

use super::threads::WorkerGroup;
use super::workers::WorkerConfig;
use crate::EngineError;
use crate::recording::ThreadOutcome;

/// What a process reports.
type Report = Result<ThreadOutcome, Failure>;

/// Runs a process for each worker. A process that fails ends the others.
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
        Ok(run(prepared, &WorkerGroup::new(config.stop))?)
    };
    let fork = |number| {
        WorkerProcess::fork(|side| {
            let report = work(number, side);
            serde_json::to_vec(&report).expect("a report holds numbers, names and sentences")
        })
        .map_err(|e| process_error("fork", e))
    };
    let gives_up = || config.stop.is_raised();
    let mut processes = Vec::new();
    for number in 0..config.count {
        processes.push(fork(number)?);
    }
    for process in &mut processes {
        match process.wait_until_ready(gives_up) {
            // One that could not prepare itself, or died, says why when it is collected.
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {}
            Err(error) => return Err(process_error("prepare", error)),
        }
    }
    for process in &mut processes {
        // Writing fails where the process has ended already.
        let _ = process.begin();
    }
    let mut results = Vec::new();
    for process in processes {
        let result = collect(process, gives_up);
        let failed = result.is_err();
        results.push(result);
        if failed {
            // Those that are left are ended as their handles are dropped.
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
