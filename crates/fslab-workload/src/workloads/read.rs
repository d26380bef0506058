//! An existing file is read from its first to its last record. Cold or warm, the study says. The
//! file is opened before the clock starts.

use fslab_engine::{RunContext, run_data};
use fslab_model::{Headline, PhaseKind};

use crate::big_file::{BigFile, Takes};
use crate::workload::{Definition, Finished, RunError};

pub(crate) struct Read;

impl Definition for Read {
    type Parameters = BigFile;
    const NAME: &'static str = "read";
    const TITLE: &'static str = "sequential read of a file";
    const KIND: PhaseKind = PhaseKind::Read;
    const HEADLINE: Headline = Headline::Throughput;

    fn complete(parameters: &mut BigFile) {
        parameters.takes(Takes::READS);
    }

    fn run(parameters: &BigFile, context: &RunContext) -> Result<Finished, RunError> {
        Ok(run_data(context, &parameters.read_job())?.into())
    }
}
