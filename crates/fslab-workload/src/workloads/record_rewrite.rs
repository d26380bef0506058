//! The first record of an existing file is overwritten again and again, then fsync: one hot spot.
//! As often as the file has records, unless `operations` says otherwise. The fsync is part of the
//! time; with `sync = "none"` the clock stops when the page cache has taken the last write.

use fslab_engine::{DataJob, OpenMode, RunContext, run_data};
use fslab_model::{Headline, PhaseKind};

use crate::big_file::{BigFile, Takes};
use crate::workload::{Definition, Finished, RunError};

pub(crate) struct RecordRewrite;

impl Definition for RecordRewrite {
    type Parameters = BigFile;
    const NAME: &'static str = "record-rewrite";
    const TITLE: &'static str = "writes of one record of a file, again and again, closed by fsync";
    const KIND: PhaseKind = PhaseKind::Write;
    const HEADLINE: Headline = Headline::Throughput;

    fn complete(parameters: &mut BigFile) {
        parameters.takes_sync(Takes::WRITES);
    }

    fn run(parameters: &BigFile, context: &RunContext) -> Result<Finished, RunError> {
        let job = DataJob {
            open: OpenMode::Existing,
            generation: 3,
            // Of a file of one record, every access is one to that.
            file_bytes: parameters.record.0,
            ..parameters.write_job()
        };
        Ok(run_data(context, &job)?.into())
    }
}
