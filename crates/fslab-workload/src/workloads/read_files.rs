//! Every file of the tree is opened, read to its end and closed.

use fslab_engine::{MetadataOperation, RunContext, run_metadata};
use fslab_model::{Headline, PhaseKind};

use crate::parameters::SmallFiles;
use crate::workload::{Definition, Finished, RunError};

pub(crate) struct ReadFiles;

impl Definition for ReadFiles {
    type Parameters = SmallFiles;
    const NAME: &'static str = "read-files";
    const TITLE: &'static str = "open, read and close of every small file";
    const KIND: PhaseKind = PhaseKind::Metadata;
    const HEADLINE: Headline = Headline::OperationRate;

    fn run(parameters: &SmallFiles, context: &RunContext) -> Result<Finished, RunError> {
        Ok(run_metadata(context, &parameters.job(MetadataOperation::Read))?.into())
    }
}
