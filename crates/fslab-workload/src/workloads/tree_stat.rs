//! Every process lists its directories one by one, and asks for the attributes of each file of one
//! before it comes to the next.

use fslab_engine::{MetadataOperation, RunContext, run_metadata};
use fslab_model::{Headline, PhaseKind};

use crate::own_trees::OwnTrees;
use crate::workload::{Definition, Finished, RunError};

pub(crate) struct TreeStat;

impl Definition for TreeStat {
    type Parameters = OwnTrees;
    const NAME: &'static str = "tree-stat";
    const TITLE: &'static str = "every process asks for the attributes of its own files";
    const KIND: PhaseKind = PhaseKind::Metadata;
    const HEADLINE: Headline = Headline::OperationRate;

    fn run(parameters: &OwnTrees, context: &RunContext) -> Result<Finished, RunError> {
        Ok(run_metadata(context, &parameters.job(MetadataOperation::Stat))?.into())
    }
}
