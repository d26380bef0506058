//! The permissions of every file of the tree are changed by name, then syncfs.

use fslab_engine::{EngineError, Measured, MetadataOperation, RunContext, run_metadata};
use fslab_model::{Headline, PhaseKind};

use crate::parameters::SmallFiles;
use crate::workload::Definition;

pub(crate) struct Chmod;

impl Definition for Chmod {
    type Parameters = SmallFiles;
    const NAME: &'static str = "chmod";
    const TITLE: &'static str = "change of every small file's permissions, closed by syncfs";
    const KIND: PhaseKind = PhaseKind::Metadata;
    const HEADLINE: Headline = Headline::OperationRate;

    fn run(parameters: &SmallFiles, context: &RunContext) -> Result<Measured, EngineError> {
        run_metadata(context, &parameters.durable_job(MetadataOperation::Chmod))
    }
}
