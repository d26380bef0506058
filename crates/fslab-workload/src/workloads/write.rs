//! A new file is written from its first to its last record, then fsync: the fsync is part of the
//! time. With `sync = "none"` the clock stops when the page cache has taken the last record. The
//! file is created, and opened, before the clock starts, and closed after it has stopped.

use fslab_engine::{RunContext, run_data};
use fslab_model::{Headline, PhaseKind};

use crate::big_file::{BigFile, Takes};
use crate::workload::{Definition, Finished, RunError};

pub(crate) struct Write;

impl Definition for Write {
    type Parameters = BigFile;
    const NAME: &'static str = "write";
    const TITLE: &'static str = "sequential write of a new file, closed by fsync";
    const KIND: PhaseKind = PhaseKind::Write;
    const HEADLINE: Headline = Headline::Throughput;

    fn complete(parameters: &mut BigFile) {
        parameters.takes_sync(Takes::WRITES);
    }

    fn run(parameters: &BigFile, context: &RunContext) -> Result<Finished, RunError> {
        Ok(run_data(context, &parameters.write_job())?.into())
    }
}
