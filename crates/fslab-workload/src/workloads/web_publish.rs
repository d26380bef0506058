//! The files of a web site are written.

use fslab_engine::RunContext;
use fslab_model::{Headline, PhaseKind};

use crate::programs::web::{PublishParameters, run_publish};
use crate::workload::{Definition, Finished, RunError};

pub(crate) struct WebPublish;

impl Definition for WebPublish {
    type Parameters = PublishParameters;
    const NAME: &'static str = "web-publish";
    const TITLE: &'static str = "files for `web-server` are written: open, write and close of each";
    const KIND: PhaseKind = PhaseKind::Write;
    const HEADLINE: Headline = Headline::Throughput;

    fn run(parameters: &PublishParameters, context: &RunContext) -> Result<Finished, RunError> {
        run_publish(parameters, context)
    }
}
