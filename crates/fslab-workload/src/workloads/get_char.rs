//! An existing file is read character by character: one getc for each byte, as bonnie does. A
//! `record` is what is timed as one operation, not what is read at once. With `buffer = 0` each
//! character is a read(2) of its own, as in bonnie++ since it gave up streams.

use fslab_engine::{DataJob, EngineKind, RunContext, run_data};
use fslab_model::{Headline, PhaseKind};

use crate::big_file::{BigFile, with_engine};
use crate::workload::{Definition, Finished, RunError};

pub(crate) struct GetChar;

impl Definition for GetChar {
    type Parameters = BigFile;
    const NAME: &'static str = "get-char";
    const TITLE: &'static str = "read of a file character by character";
    const KIND: PhaseKind = PhaseKind::Read;
    const HEADLINE: Headline = Headline::Throughput;

    fn complete(parameters: &mut BigFile) {
        parameters.takes_characters(false);
    }

    fn run(parameters: &BigFile, context: &RunContext) -> Result<Finished, RunError> {
        let context = with_engine(context, EngineKind::Stdio);
        let mut job: DataJob = parameters.read_job();
        job.stdio.by_character = true;
        Ok(run_data(&context, &job)?.into())
    }
}
