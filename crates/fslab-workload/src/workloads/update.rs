//! Each record of an existing file is read, one byte of it is changed, and it is written back where
//! it was; then fsync. That is what bonnie calls rewrite. The fsync is part of the time; an
//! operation is a read and a write, and its bytes count once. With `sync = "none"` the clock stops
//! when the page cache has taken the last record.

use fslab_engine::{DataJob, Direction, RunContext, run_data};
use fslab_model::{Bytes, Headline, PhaseKind};

use crate::big_file::{BigFile, Takes};
use crate::workload::{Definition, Finished, RunError};

/// bonnie's chunk.
const RECORD_DEFAULT: Bytes = Bytes::kib(8);

pub(crate) struct Update;

impl Definition for Update {
    type Parameters = BigFile;
    const NAME: &'static str = "update";
    const TITLE: &'static str =
        "read, change and write back of every record of a file, closed by fsync";
    const KIND: PhaseKind = PhaseKind::Mixed;
    const HEADLINE: Headline = Headline::Throughput;

    fn complete(parameters: &mut BigFile) {
        parameters.takes_sync(Takes::WRITES);
        parameters.record_or(RECORD_DEFAULT);
    }

    fn run(parameters: &BigFile, context: &RunContext) -> Result<Finished, RunError> {
        let job = DataJob {
            direction: Direction::Update,
            ..parameters.read_job()
        };
        Ok(run_data(context, &job)?.into())
    }
}
