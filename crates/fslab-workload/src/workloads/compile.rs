//! A step of the build of a C program.

use fslab_engine::RunContext;
use fslab_model::{Headline, PhaseKind};

use crate::programs::ProgramParameters;
use crate::programs::compile::{CompileParameters, run_compile};
use crate::workload::{Definition, Finished, RunError};

pub(crate) struct Compile;

impl Definition for Compile {
    type Parameters = CompileParameters;
    const NAME: &'static str = "compile";
    const TITLE: &'static str =
        "a step of a build with sh, cc and make: unpack, configure, make, install or clean";
    const KIND: PhaseKind = PhaseKind::Metadata;
    const HEADLINE: Headline = Headline::OperationRate;

    fn kind(parameters: &CompileParameters) -> PhaseKind {
        parameters.kind()
    }

    fn foreign(parameters: &CompileParameters) -> Option<String> {
        ProgramParameters::foreign(parameters)
    }

    fn run(parameters: &CompileParameters, context: &RunContext) -> Result<Finished, RunError> {
        run_compile(parameters, context)
    }
}
