//! Runs a data job, or several simultaneously.
//!
//! The workers of all jobs are one group: they are prepared, start together, and the first error
//! stops all.

use std::borrow::Cow;
use std::ops::Range;

use fslab_sys::SharedCounter;

use super::engine::DataEngine;
use crate::drive::{
    DataThread, ReadyWorker, Stonewall, WorkerConfig, even_share, prepare_files, run_workers,
};
use crate::engines::refuse_lacking_syncs;
use crate::jobs::{Amount, OpenMode, Sharing, Workers};
use crate::made::stonewall_note;
use crate::ranks::shifted;
use crate::recording::combine;
use crate::registry::engine;
use crate::{DataJob, EngineError, EngineKind, Measured, RunContext};

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
    Ok(run_all(context, std::slice::from_ref(job))?.all)
}

/// Runs `jobs` simultaneously.
///
/// # Errors
/// As [`run_data`]; `BadInput` also for an empty list, for threads together with processes, and for
/// the null engine, which has a separate clock, together with another.
pub fn run_data_together(context: &RunContext, jobs: &[DataJob]) -> Result<Together, EngineError> {
    run_all(context, jobs)
}

fn run_all(context: &RunContext, jobs: &[DataJob]) -> Result<Together, EngineError> {
    let kind = |job: &DataJob| job.engine.unwrap_or(context.engine);
    let workers = common_workers(jobs, kind)?;
    let mut running = Vec::with_capacity(jobs.len());
    for job in jobs {
        job.validate()?;
        let engine = &engine(kind(job)).data;
        refuse_lacking_syncs(job)?;
        (engine.check)(job)?;
        let (spread, threads) = spread(context, job)?;
        look_at_made(context, &spread)?;
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
    let count = running.iter().map(|it| it.threads.len() as u32).sum();
    let stonewall = stonewall(context, &running, count)?;
    let config = WorkerConfig {
        count,
        workers,
        stop: &context.stop,
        ranks: context.ranks.as_ref(),
        stonewall: stonewall.as_ref(),
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
    let mut all = combine(outcomes, used, true);
    if let Some(most) = stonewall.as_ref().and_then(Stonewall::most) {
        let job = &running[0].job;
        let made = most.saturating_mul(job.record.0);
        context.made.note(&job.file, job.threads, made);
        all.notes.push(stonewall_note(most, "records"));
    }
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

/// Refuses a job on a file of which other threads made a part. A job that makes the file makes it
/// anew.
fn look_at_made(context: &RunContext, job: &DataJob) -> Result<(), EngineError> {
    if job.writes() && job.open != OpenMode::Existing {
        context.made.forget(&job.file);
    }
    let made = context.made.of(&job.file, job.threads)?;
    let anywhere = job.sharing != Sharing::Own && !job.access.covers();
    match made.filter(|_| anywhere) {
        None => Ok(()),
        Some(_) => Err(EngineError::bad_input(format!(
            "{} was made until a stonewall and has gaps, which a random read of all of it meets",
            job.file.display()
        ))
        .hint("use access = \"random-once\", in which each thread reads its part")),
    }
}

/// Where the threads of a job with a stonewall meet.
fn stonewall<'a>(
    context: &'a RunContext,
    running: &[Running<'_>],
    threads: u32,
) -> Result<Option<Stonewall<'a>>, EngineError> {
    match running {
        all if all.iter().all(|it| it.job.stonewall_ns.is_none()) => Ok(None),
        [_] => Ok(Some(Stonewall::new(threads, context.ranks.as_ref()))),
        _ => Err(EngineError::bad_input(
            "a job with a stonewall cannot run together with others",
        )),
    }
}

/// The kind of workers of the jobs.
fn common_workers(
    jobs: &[DataJob],
    kind: impl Fn(&DataJob) -> EngineKind,
) -> Result<Workers, EngineError> {
    let Some((first, rest)) = jobs.split_first() else {
        return Err(EngineError::bad_input("there is no job to run"));
    };
    let is_null = |job| kind(job) == EngineKind::Null;
    if rest.iter().any(|it| is_null(it) != is_null(first)) {
        return Err(EngineError::bad_input(
            "the null engine has its own clock, and cannot run together with others",
        ));
    }
    if is_null(first) {
        // Processes would not differ from threads on a synthetic clock.
        return Ok(Workers::Threads);
    }
    if rest.iter().any(|it| it.workers != first.workers) {
        return Err(EngineError::bad_input(
            "jobs that run together must all have threads or all have processes",
        ));
    }
    Ok(first.workers)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Access;

    #[test]
    fn a_file_made_until_a_stonewall_is_refused_where_its_parts_do_not_fit() {
        let place = tempfile::tempdir().expect("a directory");
        let context = RunContext::new(EngineKind::Psync, place.path(), 1);
        let writing = DataJob {
            threads: 2,
            sharing: Sharing::Shared,
            stonewall_ns: Some(10_000_000),
            ..DataJob::write("f", 64 << 30, 4096)
        };
        run_data(&context, &writing).expect("writes");
        let reading = DataJob {
            threads: 2,
            sharing: Sharing::Shared,
            ..DataJob::read("f", 64 << 30, 4096)
        };
        run_data(&context, &reading).expect("reads");
        let refused = |job: DataJob| run_data(&context, &job).expect_err("refused").to_string();
        let text = refused(DataJob {
            threads: 3,
            ..reading.clone()
        });
        assert!(text.contains("by 2 threads until a stonewall"), "{text}");
        let text = refused(DataJob {
            access: Access::RandomUniform,
            amount: Amount::Operations(1),
            ..reading.clone()
        });
        assert!(text.contains("has gaps"), "{text}");
        let anew = DataJob {
            file_size: 8192.into(),
            threads: 1,
            stonewall_ns: None,
            ..writing.clone()
        };
        let two_records = run_data(&context, &anew).expect("writes it anew");
        assert_eq!(two_records.operations, 2);
        let text = run_data_together(&context, &[writing, reading]).expect_err("refused");
        assert!(text.to_string().contains("cannot run together"), "{text}");
    }
}
