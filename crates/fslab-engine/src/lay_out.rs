//! Writes the files that a job reads, before the phase is timed and its caches are prepared.

use std::fs;
use std::io::ErrorKind;

use fslab_model::Failure;

use crate::jobs::{
    Amount, DataJob, Direction, OpenMode, OpenSync, Pace, Preparation, SyncPolicy, Workers,
};
use crate::{Access, EngineError, EngineKind, RunContext, run_data};

/// Whether [`lay_out`] writes the files of `job` where they are missing: it reads, and may create.
pub fn lays_out(job: &DataJob) -> bool {
    job.reads() && job.open == OpenMode::Create
}

/// Writes and syncs the files of `job` where one is missing or too short; gives the bytes that were
/// missing. Their content is what the job expects when it verifies.
pub fn lay_out(context: &RunContext, job: &DataJob) -> Result<u64, EngineError> {
    let missing_bytes = match &context.ranks {
        None => missing_bytes(context, job)?,
        Some(ranks) => {
            let missing = missing_bytes(context, &job.of_ranks(ranks.count));
            let missing = ranks.agree_on("missing files", missing.map_err(Failure::from));
            missing.map_err(EngineError::from_failure)?
        }
    };
    if missing_bytes > 0 {
        let context = RunContext {
            engine: EngineKind::Psync,
            ..context.clone()
        };
        run_data(&context, &writing(job))?;
    }
    Ok(missing_bytes)
}

/// What the files of all threads lack.
fn missing_bytes(context: &RunContext, job: &DataJob) -> Result<u64, EngineError> {
    let mut missing_bytes = 0;
    if context.made.has(&job.file) {
        return Ok(0);
    }
    for thread in 0..job.owners() {
        for (index, file) in job.files_of(thread).iter().enumerate() {
            let path = context.root.join(file);
            let length = match fs::metadata(&path) {
                Ok(about) => about.len(),
                Err(error) if error.kind() == ErrorKind::NotFound => 0,
                Err(error) => return Err(EngineError::io("stat", &path, error)),
            };
            missing_bytes += job.length_of(index).saturating_sub(length);
        }
    }
    Ok(missing_bytes)
}

fn writing(job: &DataJob) -> DataJob {
    DataJob {
        direction: Direction::Write,
        access: Access::Sequential,
        amount: Amount::WholeFile,
        ramp_up_ns: 0,
        record_split: Vec::new(),
        zones: Vec::new(),
        time_limit_ns: None,
        start_delay_ns: 0,
        pace: Pace::AsFastAsPossible,
        preparation: Preparation::None,
        positioned: true,
        direct: false,
        open_sync: OpenSync::None,
        advice: None,
        sync: SyncPolicy::CLOSING_FSYNC,
        verify: false,
        workers: Workers::Threads,
        ..job.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading() -> DataJob {
        DataJob {
            open: OpenMode::Create,
            verify: true,
            threads: 2,
            ..DataJob::read("f", 64 << 10, 4096)
        }
    }

    #[test]
    fn files_that_are_missing_or_short_are_written_and_verify() {
        let place = tempfile::tempdir().expect("a directory");
        let context = RunContext::new(EngineKind::Psync, place.path(), 1);
        let job = reading();
        assert!(lays_out(&job));
        assert_eq!(lay_out(&context, &job).expect("written"), 128 << 10);
        assert_eq!(lay_out(&context, &job).expect("there"), 0);
        run_data(&context, &job).expect("what is read is what was written");
        let second = place.path().join(job.file_of(1));
        let file = fs::File::options().write(true).open(second).expect("open");
        file.set_len(4096).expect("cut");
        assert_eq!(lay_out(&context, &job).expect("written"), 60 << 10);
        run_data(&context, &job).expect("what is read is what was written");
    }

    #[test]
    fn an_existing_file_is_demanded_where_the_job_says_so() {
        let job = DataJob {
            open: OpenMode::Existing,
            ..reading()
        };
        assert!(!lays_out(&job));
        assert!(!lays_out(&DataJob::write("f", 4096, 4096)));
    }
}
