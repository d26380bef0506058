//! The files that `inline-probe` made are read, at the threshold and a byte above it. Cold or not,
//! the study says.

use fslab_engine::RunContext;
use fslab_model::{Headline, PhaseKind};

use crate::probe::{self, InlineParameters};
use crate::workload::{Definition, Finished, RunError};

pub(crate) struct InlineRead;

impl Definition for InlineRead {
    type Parameters = InlineParameters;
    const NAME: &'static str = "inline-read";
    const TITLE: &'static str =
        "probe: how much faster files without a data block are read than those a byte longer";
    const KIND: PhaseKind = PhaseKind::Read;
    const HEADLINE: Headline = Headline::OperationRate;

    fn run(parameters: &InlineParameters, context: &RunContext) -> Result<Finished, RunError> {
        probe::inline_read(parameters, context)
    }
}
