//! An existing file is read from its first to its last record. Cold or warm, the study says.

use fslab_engine::{RunContext, run_data};
use fslab_model::{Headline, PhaseKind};

use crate::parameters::BigFile;
use crate::workload::{Definition, Finished, RunError};

pub(crate) struct Read;

impl Definition for Read {
    type Parameters = BigFile;
    const NAME: &'static str = "read";
    const TITLE: &'static str = "sequential read of a file";
    const KIND: PhaseKind = PhaseKind::Read;
    const HEADLINE: Headline = Headline::Throughput;

    fn run(parameters: &BigFile, context: &RunContext) -> Result<Finished, RunError> {
        Ok(run_data(context, &parameters.read_job())?.into())
    }
}
