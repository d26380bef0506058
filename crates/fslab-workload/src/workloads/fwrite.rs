//! A new file is written from its first to its last record by fwrite(3), the stream is flushed,
//! then fsync: flush and fsync are part of the time. The stream's buffer is as long as the record
//! unless `buffer` says otherwise, so that each fwrite is one write(2); a longer one gathers
//! records.

use fslab_engine::{EngineKind, RunContext, run_data};
use fslab_model::{Headline, PhaseKind};

use crate::big_file::{BigFile, with_engine};
use crate::workload::{Definition, Finished, RunError};

pub(crate) struct Fwrite;

impl Definition for Fwrite {
    type Parameters = BigFile;
    const NAME: &'static str = "fwrite";
    const TITLE: &'static str = "sequential write of a new file through a stream, closed by fsync";
    const KIND: PhaseKind = PhaseKind::Write;
    const HEADLINE: Headline = Headline::Throughput;

    fn complete(parameters: &mut BigFile) {
        parameters.takes_stream(true);
    }

    fn run(parameters: &BigFile, context: &RunContext) -> Result<Finished, RunError> {
        let context = with_engine(context, EngineKind::Stdio);
        Ok(run_data(&context, &parameters.write_job())?.into())
    }
}
