//! Records at uniformly random places of an existing file are overwritten, then fsync: the fsync is
//! part of the time, so that the page cache cannot take the work and run. With `each_once` they
//! come in a random order, each exactly once; with `sync = "none"` the clock stops when the page
//! cache has taken the last record.

use fslab_engine::{DataJob, OpenMode, RunContext, run_data};
use fslab_model::{Bytes, Headline, PhaseKind};

use crate::big_file::{BigFile, Takes};
use crate::workload::{Definition, Finished, RunError};

pub(crate) struct RandomWrite;

impl Definition for RandomWrite {
    type Parameters = BigFile;
    const NAME: &'static str = "random-write";
    const TITLE: &'static str = "writes of records at random places of a file, closed by fsync";
    const KIND: PhaseKind = PhaseKind::Write;
    const HEADLINE: Headline = Headline::OperationRate;

    fn complete(parameters: &mut BigFile) {
        parameters.takes_sync(Takes {
            each_once: true,
            ..Takes::WRITES
        });
        parameters.record_or(Bytes::kib(4));
    }

    fn run(parameters: &BigFile, context: &RunContext) -> Result<Finished, RunError> {
        let job = DataJob {
            open: OpenMode::Existing,
            generation: 2,
            access: parameters.random(),
            ..parameters.write_job()
        };
        Ok(run_data(context, &job)?.into())
    }
}
