//! Part of the conformance suite: a file system is filled to the last byte, and recovers.

use fslab_engine::RunContext;
use fslab_model::{Headline, PhaseKind};

use crate::conformance::{self, FillParameters};
use crate::workload::{Definition, Finished, RunError};

pub(crate) struct Fill;

impl Definition for Fill {
    type Parameters = FillParameters;
    const NAME: &'static str = "fill";
    const TITLE: &'static str =
        "conformance: files until nothing fits, then half of them deleted and written anew";
    const KIND: PhaseKind = PhaseKind::Write;
    const HEADLINE: Headline = Headline::OperationRate;

    fn run(parameters: &FillParameters, context: &RunContext) -> Result<Finished, RunError> {
        conformance::fill(parameters, context)
    }
}
