//! Every process lists its directories one by one, and opens, reads and closes each file of one
//! before it comes to the next.

use fslab_engine::{MetadataOperation, RunContext, run_metadata};
use fslab_model::{Headline, PhaseKind};

use crate::own_trees::OwnTrees;
use crate::workload::{Definition, Finished, RunError};

pub(crate) struct TreeRead;

impl Definition for TreeRead {
    type Parameters = OwnTrees;
    const NAME: &'static str = "tree-read";
    const TITLE: &'static str = "every process reads the files of its own tree";
    const KIND: PhaseKind = PhaseKind::Metadata;
    const HEADLINE: Headline = Headline::OperationRate;

    fn run(parameters: &OwnTrees, context: &RunContext) -> Result<Finished, RunError> {
        Ok(run_metadata(context, &parameters.job(MetadataOperation::Read))?.into())
    }
}
