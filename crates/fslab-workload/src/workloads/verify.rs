//! The second half of the conformance suite: what `exercise` made is there, and nothing else.

use fslab_engine::RunContext;
use fslab_model::{Headline, PhaseKind};

use crate::conformance::{self, TreeParameters};
use crate::workload::{Definition, Finished, RunError};

pub(crate) struct Verify;

impl Definition for Verify {
    type Parameters = TreeParameters;
    const NAME: &'static str = "verify";
    const TITLE: &'static str =
        "conformance: every byte, name and mark that `exercise` left is compared";
    const KIND: PhaseKind = PhaseKind::Read;
    const HEADLINE: Headline = Headline::OperationRate;

    fn run(parameters: &TreeParameters, context: &RunContext) -> Result<Finished, RunError> {
        conformance::verify(parameters, context)
    }
}
