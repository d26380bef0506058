//! A new file is written from its first to its last record, then fsync: the fsync is part of the
//! time.

use fslab_engine::{DataJob, RunContext, SyncPolicy, run_data};
use fslab_model::{Headline, PhaseKind};

use crate::parameters::BigFile;
use crate::workload::{Definition, Finished, RunError};

pub(crate) struct Write;

impl Definition for Write {
    type Parameters = BigFile;
    const NAME: &'static str = "write";
    const TITLE: &'static str = "sequential write of a new file, closed by fsync";
    const KIND: PhaseKind = PhaseKind::Write;
    const HEADLINE: Headline = Headline::Throughput;

    fn run(parameters: &BigFile, context: &RunContext) -> Result<Finished, RunError> {
        let job = DataJob {
            sync: SyncPolicy::CLOSING_FSYNC,
            ..parameters.write_job()
        };
        Ok(run_data(context, &job)?.into())
    }
}
