//! Every process lists its directories one by one, and replaces each file of one: the old one is
//! unlinked while it is open, and a new one is written as by `tree-write`, as one operation.

use fslab_engine::{MetadataJob, MetadataOperation, RunContext, run_metadata};
use fslab_model::{Headline, PhaseKind};

use crate::own_trees::OwnTrees;
use crate::workload::{Definition, Finished, RunError};

pub(crate) struct TreeRewrite;

impl Definition for TreeRewrite {
    type Parameters = OwnTrees;
    const NAME: &'static str = "tree-rewrite";
    const TITLE: &'static str = "every process replaces its own files by new ones";
    const KIND: PhaseKind = PhaseKind::Metadata;
    const HEADLINE: Headline = Headline::OperationRate;

    fn run(parameters: &OwnTrees, context: &RunContext) -> Result<Finished, RunError> {
        let job = MetadataJob {
            // The new content is not the old one.
            generation: 1,
            ..parameters.writing_job(MetadataOperation::Replace)
        };
        let mut finished = Finished::from(run_metadata(context, &job)?);
        finished.notes.extend(parameters.writing_notes());
        Ok(finished)
    }
}
