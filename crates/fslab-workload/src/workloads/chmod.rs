//! The permissions of every file of the tree are changed by name, then syncfs.

use fslab_engine::{MetadataOperation, RunContext, run_metadata};
use fslab_model::{Headline, Need, PhaseKind};

use crate::parameters::SmallFiles;
use crate::workload::{Definition, Finished, RunError, WorkloadParameters};

pub(crate) struct Chmod;

impl Definition for Chmod {
    type Parameters = SmallFiles;
    const NAME: &'static str = "chmod";
    const TITLE: &'static str = "change of every small file's permissions, closed by syncfs";
    const KIND: PhaseKind = PhaseKind::Metadata;
    const HEADLINE: Headline = Headline::OperationRate;

    fn needs(parameters: &SmallFiles) -> Vec<Need> {
        let mut needs = parameters.needs();
        needs.push(Need::Permissions);
        needs
    }

    fn run(parameters: &SmallFiles, context: &RunContext) -> Result<Finished, RunError> {
        Ok(run_metadata(context, &parameters.durable_job(MetadataOperation::Chmod))?.into())
    }
}
