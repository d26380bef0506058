//! Every process makes directories, and in each of them files: open, one write, close, chown, chmod
//! of a file are one operation, and the directory is made in that of its first file.

use fslab_engine::{MetadataJob, MetadataOperation, Order, RunContext, run_metadata};
use fslab_model::{Headline, PhaseKind};

use crate::own_trees::OwnTrees;
use crate::workload::{Definition, Finished, RunError};

pub(crate) struct TreeWrite;

impl Definition for TreeWrite {
    type Parameters = OwnTrees;
    const NAME: &'static str = "tree-write";
    const TITLE: &'static str =
        "every process writes a tree of its own, directories and attributes included";
    const KIND: PhaseKind = PhaseKind::Metadata;
    const HEADLINE: Headline = Headline::OperationRate;

    fn run(parameters: &OwnTrees, context: &RunContext) -> Result<Finished, RunError> {
        let job = MetadataJob {
            order: Order::Sequential,
            ..parameters.writing_job(MetadataOperation::Create)
        };
        let mut finished = Finished::from(run_metadata(context, &job)?);
        finished.notes.extend(parameters.writing_notes());
        Ok(finished)
    }
}
