//! Runs a data job, or several that begin together.
//!
//! The workers of all jobs are one group: they are prepared, begin at once, and the first error
//! ends them all.

use fslab_sys::SharedCounter;

use crate::drive::{ReadyWorker, WorkerConfig, prepare_files, run_workers};
use crate::jobs::{Amount, Workers};
use crate::recording::combine;
use crate::registry::{DataEngine, engine};
use crate::{DataJob, EngineError, EngineKind, Measured, RunContext};

/// A data job, and who issues it.
#[derive(Clone, Debug, PartialEq)]
pub struct EngineJob {
    /// The engine.
    pub engine: EngineKind,
    /// What it does.
    pub job: DataJob,
}

/// What jobs that ran together left behind.
#[derive(Clone, Debug, PartialEq)]
pub struct Together {
    /// The figures of all of them: from the first start to the last end. Threads stand in the order
    /// of the jobs.
    pub all: Measured,
    /// The figures of each.
    pub each: Vec<Measured>,
}

/// A job with its engine and what its workers share.
struct Running<'a> {
    engine: &'static DataEngine,
    job: &'a DataJob,
    tickets: Option<SharedCounter>,
}

/// Reads or writes as `job` says.
///
/// # Errors
/// `BadInput` for a job that makes no sense, `Unsupported` for one that the engine, the kernel or
/// the file system does not do, `Interrupted` after the stop flag was raised, `Corrupt` for data
/// that is not what was written, `NoSpace`, `Permission` or `Io` for a failed system call.
pub fn run_data(context: &RunContext, job: &DataJob) -> Result<Measured, EngineError> {
    Ok(run_all(context, &[(context.engine, job)])?.all)
}

/// Runs `jobs` at the same time, each by its own engine; the engine of `context` plays no part.
///
/// # Errors
/// As those of [`run_data`]; `BadInput` also for no job at all, for threads beside processes, and
/// for the null engine, which has a clock of its own, beside another.
pub fn run_data_together(
    context: &RunContext,
    jobs: &[EngineJob],
) -> Result<Together, EngineError> {
    let jobs: Vec<_> = jobs.iter().map(|it| (it.engine, &it.job)).collect();
    run_all(context, &jobs)
}

fn run_all(context: &RunContext, jobs: &[(EngineKind, &DataJob)]) -> Result<Together, EngineError> {
    let workers = common_workers(jobs)?;
    let mut running = Vec::with_capacity(jobs.len());
    for (kind, job) in jobs {
        job.validate()?;
        let engine = &engine(*kind).data;
        (engine.check)(job)?;
        running.push(Running {
            engine,
            job,
            tickets: tickets(engine, job)?,
        });
    }
    for Running { engine, job, .. } in &running {
        if engine.keeps_files {
            prepare_files(context, job)?;
        }
    }
    let config = WorkerConfig {
        count: running.iter().map(|it| it.job.threads).sum(),
        workers,
        stop: &context.stop,
    };
    let prepare = |number| prepare_worker(context, &running, number);
    let (mut outcomes, used) = run_workers(config, prepare, |worker, group| worker(group))?;
    let used = used.filter(|_| running.iter().all(|it| it.engine.keeps_files));
    let all = combine(outcomes.clone(), used, true);
    let each = running.iter().map(|it| {
        let rest = outcomes.split_off(it.job.threads as usize);
        let own = std::mem::replace(&mut outcomes, rest);
        combine(own, None, true)
    });
    let each = each.collect();
    Ok(Together { all, each })
}

/// Whether the jobs have threads or processes.
fn common_workers(jobs: &[(EngineKind, &DataJob)]) -> Result<Workers, EngineError> {
    let Some((first, rest)) = jobs.split_first() else {
        return Err(EngineError::bad_input("there is no job to run"));
    };
    let is_null = |kind| kind == EngineKind::Null;
    if rest.iter().any(|it| is_null(it.0) != is_null(first.0)) {
        return Err(EngineError::bad_input(
            "the null engine has a clock of its own, and runs beside no other",
        ));
    }
    if is_null(first.0) {
        // On a clock of its own no process can be told from a thread.
        return Ok(Workers::Threads);
    }
    if rest.iter().any(|it| it.1.workers != first.1.workers) {
        return Err(EngineError::bad_input(
            "jobs that run together have either threads or processes, not one beside the other",
        ));
    }
    Ok(first.1.workers)
}

/// What the workers of `job` take their operations from, where they share an amount and a clock.
fn tickets(engine: &DataEngine, job: &DataJob) -> Result<Option<SharedCounter>, EngineError> {
    match job.amount {
        Amount::TotalOperations(total) if engine.keeps_files => {
            let failed = |e| EngineError::io("share a counter for", &job.file, e);
            SharedCounter::new(total).map(Some).map_err(failed)
        }
        _ => Ok(None),
    }
}

/// Worker `number` of all, which is a thread of one of the jobs.
fn prepare_worker<'a>(
    context: &'a RunContext,
    running: &'a [Running<'a>],
    number: u32,
) -> Result<ReadyWorker<'a>, EngineError> {
    let mut thread = number;
    for Running {
        engine,
        job,
        tickets,
    } in running
    {
        if thread < job.threads {
            return (engine.prepare)(context, job, thread, tickets.as_ref());
        }
        thread -= job.threads;
    }
    unreachable!("there are as many workers as threads of all jobs")
}
