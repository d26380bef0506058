//! An existing file is overwritten in place, with other data, from its first to its last record by
//! fwrite(3), the stream is flushed, then fsync: flush and fsync are part of the time. The stream's
//! buffer is as long as the record unless `buffer` says otherwise.

use fslab_engine::{DataJob, EngineKind, OpenMode, RunContext, run_data};
use fslab_model::{Headline, PhaseKind};

use crate::big_file::{BigFile, with_engine};
use crate::workload::{Definition, Finished, RunError};

pub(crate) struct Refwrite;

impl Definition for Refwrite {
    type Parameters = BigFile;
    const NAME: &'static str = "refwrite";
    const TITLE: &'static str =
        "sequential write over an existing file through a stream, closed by fsync";
    const KIND: PhaseKind = PhaseKind::Write;
    const HEADLINE: Headline = Headline::Throughput;

    fn complete(parameters: &mut BigFile) {
        parameters.takes_stream(true);
    }

    fn run(parameters: &BigFile, context: &RunContext) -> Result<Finished, RunError> {
        let context = with_engine(context, EngineKind::Stdio);
        let job = DataJob {
            open: OpenMode::Existing,
            generation: 1,
            ..parameters.write_job()
        };
        Ok(run_data(&context, &job)?.into())
    }
}
