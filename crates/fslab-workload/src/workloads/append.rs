//! The habit of databases and logs: append a record, fsync, and only then go on. Its rate is that
//! of transactions; `fsync` has a latency distribution of its own.

use fslab_engine::{DataJob, RunContext, SyncPolicy, run_data};
use fslab_model::{Bytes, Headline, PhaseKind};

use crate::big_file::{BigFile, Takes};
use crate::parameters::Size;
use crate::workload::{Definition, Finished, RunError};

pub(crate) struct Append;

impl Definition for Append {
    type Parameters = BigFile;
    const NAME: &'static str = "append";
    const TITLE: &'static str = "appends to a file, each made durable by fsync";
    const KIND: PhaseKind = PhaseKind::Write;
    const HEADLINE: Headline = Headline::OperationRate;

    fn complete(parameters: &mut BigFile) {
        parameters.takes(Takes::READS);
        parameters.record_or(Bytes::kib(4));
        // The file is as long as its appends make it: none of them may begin again at its head.
        if parameters.operations > 0 {
            let bytes = parameters.operations.saturating_mul(parameters.record.0);
            parameters.file_size = Size::Bytes(bytes);
        }
    }

    fn run(parameters: &BigFile, context: &RunContext) -> Result<Finished, RunError> {
        let job = DataJob {
            sync: SyncPolicy::FSYNC_EACH,
            ..parameters.write_job()
        };
        Ok(run_data(context, &job)?.into())
    }
}
