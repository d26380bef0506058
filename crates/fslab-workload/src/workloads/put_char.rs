//! A new file is written character by character: one putc for each byte, as bonnie does; then the
//! stream is flushed and fsync called, which are part of the time. A `record` is what is timed as
//! one operation, not what is written at once. With `buffer = 0` each character is a write(2) of
//! its own, as in bonnie++ since it gave up streams.

use fslab_engine::{DataJob, EngineKind, RunContext, run_data};
use fslab_model::{Headline, PhaseKind};

use crate::big_file::{BigFile, with_engine};
use crate::workload::{Definition, Finished, RunError};

pub(crate) struct PutChar;

impl Definition for PutChar {
    type Parameters = BigFile;
    const NAME: &'static str = "put-char";
    const TITLE: &'static str = "write of a new file character by character, closed by fsync";
    const KIND: PhaseKind = PhaseKind::Write;
    const HEADLINE: Headline = Headline::Throughput;

    fn complete(parameters: &mut BigFile) {
        parameters.takes_characters(true);
    }

    fn run(parameters: &BigFile, context: &RunContext) -> Result<Finished, RunError> {
        let context = with_engine(context, EngineKind::Stdio);
        let mut job: DataJob = parameters.write_job();
        job.stdio.by_character = true;
        Ok(run_data(&context, &job)?.into())
    }
}
