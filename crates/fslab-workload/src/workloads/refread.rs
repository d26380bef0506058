//! What `fread` has read is read again by fread(3), through a new stream: the same calls, on a
//! cache that is as warm as the phase before left it. Only the reads are timed.

use fslab_engine::{EngineKind, RunContext, run_data};
use fslab_model::{Headline, PhaseKind};

use crate::big_file::{BigFile, with_engine};
use crate::workload::{Definition, Finished, RunError};

pub(crate) struct Refread;

impl Definition for Refread {
    type Parameters = BigFile;
    const NAME: &'static str = "refread";
    const TITLE: &'static str = "sequential read of a file through a stream, which was read before";
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
