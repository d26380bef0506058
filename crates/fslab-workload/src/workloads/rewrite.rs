//! An existing file is overwritten in place, with other data, from its first to its last record,
//! then fsync: no block need be allocated, unless the file system never overwrites. With `sync =
//! "none"` the clock stops when the page cache has taken the last record.

use fslab_engine::{DataJob, OpenMode, RunContext, run_data};
use fslab_model::{Headline, PhaseKind};

use crate::big_file::{BigFile, Takes};
use crate::workload::{Definition, Finished, RunError};

pub(crate) struct Rewrite;

impl Definition for Rewrite {
    type Parameters = BigFile;
    const NAME: &'static str = "rewrite";
    const TITLE: &'static str = "sequential write over an existing file, closed by fsync";
    const KIND: PhaseKind = PhaseKind::Write;
    const HEADLINE: Headline = Headline::Throughput;

    fn complete(parameters: &mut BigFile) {
        parameters.takes_sync(Takes::WRITES);
    }

    fn run(parameters: &BigFile, context: &RunContext) -> Result<Finished, RunError> {
        let job = DataJob {
            open: OpenMode::Existing,
            generation: 1,
            ..parameters.write_job()
        };
        Ok(run_data(context, &job)?.into())
    }
}
