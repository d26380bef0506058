//! Any program, timed as a whole.

use fslab_engine::RunContext;
use fslab_model::{Headline, PhaseKind};

use crate::programs::{CommandParameters, ProgramParameters, run_command};
use crate::workload::{Definition, Finished, RunError};

pub(crate) struct Command;

impl Definition for Command {
    type Parameters = CommandParameters;
    const NAME: &'static str = "command";
    const TITLE: &'static str =
        "any program: timed from its start to its end, with what it starts itself";
    const KIND: PhaseKind = PhaseKind::Metadata;
    const HEADLINE: Headline = Headline::OperationRate;

    fn foreign(parameters: &CommandParameters) -> Option<String> {
        ProgramParameters::foreign(parameters)
    }

    fn run(parameters: &CommandParameters, context: &RunContext) -> Result<Finished, RunError> {
        run_command(parameters, context)
    }
}
