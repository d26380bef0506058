//! An existing file is read from its last to its first record, each record itself forwards:
//! readahead looks the other way. Only the reads are timed.

use fslab_engine::{Access, DataJob, RunContext, run_data};
use fslab_model::{Headline, PhaseKind};

use crate::big_file::{BigFile, Takes};
use crate::workload::{Definition, Finished, RunError};

pub(crate) struct BackwardRead;

impl Definition for BackwardRead {
    type Parameters = BigFile;
    const NAME: &'static str = "backward-read";
    const TITLE: &'static str = "read of a file from its last record to its first";
    const KIND: PhaseKind = PhaseKind::Read;
    const HEADLINE: Headline = Headline::Throughput;

    fn complete(parameters: &mut BigFile) {
        parameters.takes(Takes::READS);
    }

    fn run(parameters: &BigFile, context: &RunContext) -> Result<Finished, RunError> {
        let job = DataJob {
            access: Access::Reverse,
            ..parameters.read_job()
        };
        Ok(run_data(context, &job)?.into())
    }
}
