//! A web server serves the files of a site.

use fslab_engine::RunContext;
use fslab_model::{Headline, PhaseKind};

use crate::programs::ProgramParameters;
use crate::programs::web::{ServeParameters, run_serve};
use crate::workload::{Definition, Finished, RunError};

pub(crate) struct WebServer;

impl Definition for WebServer {
    type Parameters = ServeParameters;
    const NAME: &'static str = "web-server";
    const TITLE: &'static str =
        "a web server serves every file that `web-publish` wrote, in random order";
    const KIND: PhaseKind = PhaseKind::Read;
    const HEADLINE: Headline = Headline::Throughput;

    fn foreign(parameters: &ServeParameters) -> Option<String> {
        ProgramParameters::foreign(parameters)
    }

    fn run(parameters: &ServeParameters, context: &RunContext) -> Result<Finished, RunError> {
        run_serve(parameters, context)
    }
}
