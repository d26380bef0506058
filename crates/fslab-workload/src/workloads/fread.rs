//! An existing file is read from its first to its last record by fread(3). The stream's buffer is
//! as long as the record unless `buffer` says otherwise, so that each fread is one read(2). Only
//! the reads are timed; the stream is opened before.

use fslab_engine::{EngineKind, RunContext, run_data};
use fslab_model::{Headline, PhaseKind};

use crate::big_file::{BigFile, with_engine};
use crate::workload::{Definition, Finished, RunError};

pub(crate) struct Fread;

impl Definition for Fread {
    type Parameters = BigFile;
    const NAME: &'static str = "fread";
    const TITLE: &'static str = "sequential read of a file through a stream";
    const KIND: PhaseKind = PhaseKind::Read;
    const HEADLINE: Headline = Headline::Throughput;

    fn complete(parameters: &mut BigFile) {
        parameters.takes_stream(false);
    }

    fn run(parameters: &BigFile, context: &RunContext) -> Result<Finished, RunError> {
        let context = with_engine(context, EngineKind::Stdio);
        Ok(run_data(&context, &parameters.read_job())?.into())
    }
}
