//! A recorded trace is issued again. The files that it found are made before the clock starts; the
//! time is from its first operation to its last, think times included where they are kept. What is
//! left is compared after the clock.

use fslab_engine::RunContext;
use fslab_model::{Headline, PhaseKind};

use crate::replay::{self, ReplayParameters};
use crate::workload::{Definition, Finished, RunError};

pub(crate) struct Replay;

impl Definition for Replay {
    type Parameters = ReplayParameters;
    const NAME: &'static str = "replay";
    const TITLE: &'static str = "the recorded operations of a program, issued again";
    const KIND: PhaseKind = PhaseKind::Mixed;
    const HEADLINE: Headline = Headline::OperationRate;
    const FOREIGN_NAMES: bool = true;

    fn run(parameters: &ReplayParameters, context: &RunContext) -> Result<Finished, RunError> {
        replay::replay(parameters, context)
    }
}
