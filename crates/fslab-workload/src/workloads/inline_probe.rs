//! The largest file that is stored without a data block of its own, and what that gains.

use fslab_engine::RunContext;
use fslab_model::{Headline, PhaseKind};

use crate::probe::{self, InlineParameters};
use crate::workload::{Definition, Finished, RunError};

pub(crate) struct InlineProbe;

impl Definition for InlineProbe {
    type Parameters = InlineParameters;
    const NAME: &'static str = "inline-probe";
    const TITLE: &'static str =
        "probe: the largest file that has no data block, and what storing it so gains";
    const KIND: PhaseKind = PhaseKind::Mixed;
    const HEADLINE: Headline = Headline::OperationRate;

    fn run(parameters: &InlineParameters, context: &RunContext) -> Result<Finished, RunError> {
        probe::inline_probe(parameters, context)
    }
}
