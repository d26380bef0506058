//! Every file of the tree is asked for its attributes by name.

use fslab_engine::{MetadataOperation, RunContext, run_metadata};
use fslab_model::{Headline, PhaseKind};

use crate::parameters::SmallFiles;
use crate::workload::{Definition, Finished, RunError};

pub(crate) struct Stat;

impl Definition for Stat {
    type Parameters = SmallFiles;
    const NAME: &'static str = "stat";
    const TITLE: &'static str = "stat of every small file";
    const KIND: PhaseKind = PhaseKind::Metadata;
    const HEADLINE: Headline = Headline::OperationRate;

    fn run(parameters: &SmallFiles, context: &RunContext) -> Result<Finished, RunError> {
        Ok(run_metadata(context, &parameters.job(MetadataOperation::Stat))?.into())
    }
}
