//! A new file is extended by a hole, mapped, and filled from its first to its last record by stores
//! to memory; then msync(2) and fsync, which are part of the time. With `sync = "none"` the clock
//! stops with the last store: what that measures is page faults. The mapping is made before the
//! clock starts. A disk that runs full, or fails, during a store ends the process by SIGBUS.

use fslab_engine::{EngineKind, RunContext, run_data};
use fslab_model::{Headline, PhaseKind};

use crate::big_file::{BigFile, Takes, with_engine};
use crate::workload::{Definition, Finished, RunError};

pub(crate) struct MmapWrite;

impl Definition for MmapWrite {
    type Parameters = BigFile;
    const NAME: &'static str = "mmap-write";
    const TITLE: &'static str = "sequential stores to a new file that is mapped, closed by fsync";
    const KIND: PhaseKind = PhaseKind::Write;
    const HEADLINE: Headline = Headline::Throughput;

    fn complete(parameters: &mut BigFile) {
        parameters.takes_sync(Takes::default());
    }

    fn run(parameters: &BigFile, context: &RunContext) -> Result<Finished, RunError> {
        let context = with_engine(context, EngineKind::Mmap);
        Ok(run_data(&context, &parameters.write_job())?.into())
    }
}
