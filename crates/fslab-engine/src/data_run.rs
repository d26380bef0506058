//! Runs a data job, or several simultaneously.
//!
//! The workers of all jobs are one group: they are prepared, start together, and the first error
//! stops all.

use std::borrow::Cow;
use std::ops::Range;

use fslab_sys::SharedCounter;

use crate::drive::{DataThread, ReadyWorker, WorkerConfig, even_share, prepare_files, run_workers};
use crate::engines::refuse_lacking_syncs;
use crate::jobs::{Amount, Workers};
use crate::ranks::shifted;
use crate::recording::combine;
use crate::registry::{DataEngine, engine};
use crate::{DataJob, EngineError, EngineKind, Measured, RunContext};

/// A data job with its engine.
#[derive(Clone, Debug, PartialEq)]
pub struct EngineJob {
    /// The engine.
    pub engine: EngineKind,
    /// The job.
    pub job: DataJob,
}

/// Result of jobs that ran together.
#[derive(Clone, Debug, PartialEq)]
pub struct Together {
    /// The figures of all jobs, from the first start to the last end. Threads are in the order of
    /// the jobs.
    pub all: Measured,
    /// The figures of each job.
    pub each: Vec<Measured>,
}

/// A job with its engine and the tickets of its workers.
struct Running<'a> {
    engine: &'static DataEngine,
    /// With the threads of all ranks.
    job: Cow<'a, DataJob>,
    /// The threads of this rank.
    threads: Range<u32>,
    tickets: Option<SharedCounter>,
}

/// Runs a data job.
///
/// # Errors
/// `BadInput` for an invalid job, `Unsupported` for one that the engine, the kernel or the file
/// system does not support, `Interrupted` after the stop flag was raised, `Corrupt` for data that
/// differs from what was written, `NoSpace`, `Permission` or `Io` for a failed system call.
pub fn run_data(context: &RunContext, job: &DataJob) -> Result<Measured, EngineError> {
    Ok(run_all(context, &[(context.engine, job)])?.all)
}

/// Runs `jobs` simultaneously, each by its engine; the engine of `context` is not used.
///
/// # Errors
/// As [`run_data`]; `BadInput` also for an empty list, for threads together with processes, and for
/// the null engine, which has a separate clock, together with another.
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
        refuse_lacking_syncs(job)?;
        (engine.check)(job)?;
        let (spread, threads) = spread(context, job)?;
        running.push(Running {
            engine,
            tickets: tickets(engine, &spread, &threads)?,
            job: spread,
            threads,
        });
    }
    let prepare_all = || {
        let mut with_files = running.iter().filter(|it| it.engine.keeps_files);
        with_files.try_for_each(|it| prepare_files(context, &it.job, it.threads.clone()))
    };
    match &context.ranks {
        Some(ranks) => ranks.agree_in_engine("files", prepare_all())?,
        None => prepare_all()?,
    }
    let config = WorkerConfig {
        count: running.iter().map(|it| it.threads.len() as u32).sum(),
        workers,
        stop: &context.stop,
        ranks: context.ranks.as_ref(),
    };
    let prepare = |number| prepare_worker(context, &running, number);
    let (outcomes, used) = run_workers(config, prepare, |worker, group| worker(group))?;
    let used = used.filter(|_| running.iter().all(|it| it.engine.keeps_files));
    let mut of_jobs = vec![Vec::new(); running.len()];
    for of_rank in outcomes.chunks(config.count as usize) {
        let mut rest = of_rank;
        for (of_job, it) in of_jobs.iter_mut().zip(&running) {
            let (own, others) = rest.split_at(it.threads.len());
            of_job.extend_from_slice(own);
            rest = others;
        }
    }
    let each = of_jobs.into_iter().map(|own| combine(own, None, true));
    let each = each.collect();
    let all = combine(outcomes, used, true);
    Ok(Together { all, each })
}

/// The job with the threads of all ranks, and the threads of this one.
fn spread<'a>(
    context: &RunContext,
    job: &'a DataJob,
) -> Result<(Cow<'a, DataJob>, Range<u32>), EngineError> {
    let Some(ranks) = &context.ranks else {
        return Ok((Cow::Borrowed(job), 0..job.threads));
    };
    let all = job.of_ranks(ranks.count);
    all.validate_of_ranks()?;
    Ok((Cow::Owned(all), ranks.workers(job.threads)))
}

/// The kind of workers of the jobs.
fn common_workers(jobs: &[(EngineKind, &DataJob)]) -> Result<Workers, EngineError> {
    let Some((first, rest)) = jobs.split_first() else {
        return Err(EngineError::bad_input("there is no job to run"));
    };
    let is_null = |kind| kind == EngineKind::Null;
    if rest.iter().any(|it| is_null(it.0) != is_null(first.0)) {
        return Err(EngineError::bad_input(
            "the null engine has its own clock, and cannot run together with others",
        ));
    }
    if is_null(first.0) {
        // Processes would not differ from threads on a synthetic clock.
        return Ok(Workers::Threads);
    }
    if rest.iter().any(|it| it.1.workers != first.1.workers) {
        return Err(EngineError::bad_input(
            "jobs that run together must all have threads or all have processes",
        ));
    }
    Ok(first.1.workers)
}

/// The tickets that the workers of `job` share, if they share an amount and a clock.
fn tickets(
    engine: &DataEngine,
    job: &DataJob,
    threads: &Range<u32>,
) -> Result<Option<SharedCounter>, EngineError> {
    match job.amount {
        Amount::TotalOperations(total) if engine.keeps_files => {
            // Ranks share no memory: each does the share of its threads.
            let total = threads
                .clone()
                .map(|it| even_share(total, it, job.threads))
                .sum();
            let failed = |e| EngineError::io("share a counter for", &job.file, e);
            SharedCounter::new(total).map(Some).map_err(failed)
        }
        _ => Ok(None),
    }
}

/// Prepares worker `number` of all, a thread of one of the jobs.
fn prepare_worker<'a>(
    context: &'a RunContext,
    running: &'a [Running<'a>],
    number: u32,
) -> Result<ReadyWorker<'a>, EngineError> {
    let mut left = number;
    for Running {
        engine,
        job,
        threads,
        tickets,
    } in running
    {
        let count = threads.len() as u32;
        if left < count {
            return (engine.prepare)(DataThread {
                context,
                job,
                thread: shifted(threads, left, job.rank_shift, job.threads),
                tickets: tickets.as_ref(),
            });
        }
        left -= count;
    }
    unreachable!("there are as many workers as threads of all jobs")
}
