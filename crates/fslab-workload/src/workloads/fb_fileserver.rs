//! The file server of filebench. What is timed: the loops of all threads, each of which creates and
//! writes a file, appends to another, reads a third, deletes a fourth and looks at a fifth.

use fslab_engine::RunContext;
use fslab_model::{Headline, PhaseKind};

use crate::applications::{self, FileServer, PersonalityParameters};
use crate::workload::{Definition, Finished, RunError};

pub(crate) struct FbFileserver;

impl Definition for FbFileserver {
    type Parameters = PersonalityParameters;
    const NAME: &'static str = "fb-fileserver";
    const TITLE: &'static str = "filebench's file server: create, append, read, delete, stat";
    const KIND: PhaseKind = PhaseKind::Mixed;
    const HEADLINE: Headline = Headline::OperationRate;

    fn complete(parameters: &mut PersonalityParameters) {
        parameters.complete(&FileServer::ORIGINAL);
    }

    fn run(parameters: &PersonalityParameters, context: &RunContext) -> Result<Finished, RunError> {
        applications::play::<FileServer>(parameters, context)
    }
}
