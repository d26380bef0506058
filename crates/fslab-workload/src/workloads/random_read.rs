//! Records at uniformly random places of an existing file are read, with replacement; with
//! `each_once` in a random order in which each comes exactly once.

use fslab_engine::{DataJob, RunContext, run_data};
use fslab_model::{Bytes, Headline, PhaseKind};

use crate::big_file::{BigFile, Takes};
use crate::workload::{Definition, Finished, RunError};

pub(crate) struct RandomRead;

impl Definition for RandomRead {
    type Parameters = BigFile;
    const NAME: &'static str = "random-read";
    const TITLE: &'static str = "reads of records at random places of a file";
    const KIND: PhaseKind = PhaseKind::Read;
    const HEADLINE: Headline = Headline::OperationRate;

    fn complete(parameters: &mut BigFile) {
        parameters.takes(Takes {
            each_once: true,
            ..Takes::READS
        });
        parameters.record_or(Bytes::kib(4));
    }

    fn run(parameters: &BigFile, context: &RunContext) -> Result<Finished, RunError> {
        let job = DataJob {
            access: parameters.random(),
            ..parameters.read_job()
        };
        Ok(run_data(context, &job)?.into())
    }
}
