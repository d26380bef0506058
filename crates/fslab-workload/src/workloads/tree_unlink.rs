//! Every process lists its directories one by one, and unlinks each file of one before it comes to
//! the next. The directories stay.

use fslab_engine::{MetadataOperation, RunContext, run_metadata};
use fslab_model::{Headline, PhaseKind};

use crate::own_trees::OwnTrees;
use crate::workload::{Definition, Finished, RunError};

pub(crate) struct TreeUnlink;

impl Definition for TreeUnlink {
    type Parameters = OwnTrees;
    const NAME: &'static str = "tree-unlink";
    const TITLE: &'static str = "every process removes its own files";
    const KIND: PhaseKind = PhaseKind::Metadata;
    const HEADLINE: Headline = Headline::OperationRate;

    fn run(parameters: &OwnTrees, context: &RunContext) -> Result<Finished, RunError> {
        Ok(run_metadata(context, &parameters.job(MetadataOperation::Unlink))?.into())
    }
}
