//! The first half of the conformance suite: everything that a file system must do, and everything
//! that its entry promises.

use fslab_engine::RunContext;
use fslab_model::{Headline, PhaseKind};

use crate::conformance::{self, TreeParameters};
use crate::workload::{Definition, Finished, RunError};

pub(crate) struct Exercise;

impl Definition for Exercise {
    type Parameters = TreeParameters;
    const NAME: &'static str = "exercise";
    const TITLE: &'static str =
        "conformance: files of all sizes, ways and names are made, moved, marked and compared";
    const KIND: PhaseKind = PhaseKind::Mixed;
    const HEADLINE: Headline = Headline::OperationRate;

    fn run(parameters: &TreeParameters, context: &RunContext) -> Result<Finished, RunError> {
        conformance::exercise(parameters, context)
    }
}
