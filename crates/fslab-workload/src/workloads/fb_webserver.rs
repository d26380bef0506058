//! The web server of filebench. What is timed: the loops of all threads, each of which reads ten
//! whole files and appends to a log that all of them share.

use fslab_engine::RunContext;
use fslab_model::{Headline, PhaseKind};

use crate::applications::{self, PersonalityParameters, WebServer};
use crate::workload::{Definition, Finished, RunError};

pub(crate) struct FbWebserver;

impl Definition for FbWebserver {
    type Parameters = PersonalityParameters;
    const NAME: &'static str = "fb-webserver";
    const TITLE: &'static str = "filebench's web server: ten files read, a log appended to";
    const KIND: PhaseKind = PhaseKind::Mixed;
    const HEADLINE: Headline = Headline::OperationRate;

    fn complete(parameters: &mut PersonalityParameters) {
        parameters.complete(&WebServer::ORIGINAL);
    }

    fn run(parameters: &PersonalityParameters, context: &RunContext) -> Result<Finished, RunError> {
        applications::play::<WebServer>(parameters, context)
    }
}
