//! The mail server of filebench. What is timed: the loops of all threads, each of which deletes a
//! mail, makes one and syncs it, reads one, appends to it and syncs it, and reads another.

use fslab_engine::RunContext;
use fslab_model::{Headline, PhaseKind};

use crate::applications::{self, MailServer, PersonalityParameters};
use crate::workload::{Definition, Finished, RunError};

pub(crate) struct FbVarmail;

impl Definition for FbVarmail {
    type Parameters = PersonalityParameters;
    const NAME: &'static str = "fb-varmail";
    const TITLE: &'static str = "filebench's mail server: mails that are synced as they come";
    const KIND: PhaseKind = PhaseKind::Mixed;
    const HEADLINE: Headline = Headline::OperationRate;

    fn complete(parameters: &mut PersonalityParameters) {
        parameters.complete(&MailServer::ORIGINAL);
    }

    fn run(parameters: &PersonalityParameters, context: &RunContext) -> Result<Finished, RunError> {
        applications::play::<MailServer>(parameters, context)
    }
}
