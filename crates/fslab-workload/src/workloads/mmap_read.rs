//! An existing file is mapped, and copied to memory from its first to its last record. Page faults
//! and their readahead are in the time; the mapping is made before the clock starts.

use fslab_engine::{EngineKind, RunContext, run_data};
use fslab_model::{Headline, PhaseKind};

use crate::big_file::{BigFile, Takes, with_engine};
use crate::workload::{Definition, Finished, RunError};

pub(crate) struct MmapRead;

impl Definition for MmapRead {
    type Parameters = BigFile;
    const NAME: &'static str = "mmap-read";
    const TITLE: &'static str = "sequential loads from a file that is mapped";
    const KIND: PhaseKind = PhaseKind::Read;
    const HEADLINE: Headline = Headline::Throughput;

    fn complete(parameters: &mut BigFile) {
        parameters.takes(Takes::default());
    }

    fn run(parameters: &BigFile, context: &RunContext) -> Result<Finished, RunError> {
        let context = with_engine(context, EngineKind::Mmap);
        Ok(run_data(&context, &parameters.read_job())?.into())
    }
}
