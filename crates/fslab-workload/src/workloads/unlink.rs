//! Every file of the tree is removed, then syncfs. The directories stay.

use fslab_engine::{MetadataOperation, RunContext, run_metadata};
use fslab_model::{Headline, PhaseKind};

use crate::parameters::SmallFiles;
use crate::workload::{Definition, Finished, RunError};

pub(crate) struct Unlink;

impl Definition for Unlink {
    type Parameters = SmallFiles;
    const NAME: &'static str = "unlink";
    const TITLE: &'static str = "removal of every small file, closed by syncfs";
    const KIND: PhaseKind = PhaseKind::Metadata;
    const HEADLINE: Headline = Headline::OperationRate;

    fn run(parameters: &SmallFiles, context: &RunContext) -> Result<Finished, RunError> {
        Ok(run_metadata(context, &parameters.durable_job(MetadataOperation::Unlink))?.into())
    }
}
