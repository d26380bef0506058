//! Every directory of the tree is listed to its end; an operation is one directory.

use fslab_engine::{MetadataOperation, RunContext, run_metadata};
use fslab_model::{Headline, PhaseKind};

use crate::parameters::SmallFiles;
use crate::workload::{Definition, Finished, RunError};

pub(crate) struct List;

impl Definition for List {
    type Parameters = SmallFiles;
    const NAME: &'static str = "list";
    const TITLE: &'static str = "listing of every directory";
    const KIND: PhaseKind = PhaseKind::Metadata;
    const HEADLINE: Headline = Headline::OperationRate;

    fn run(parameters: &SmallFiles, context: &RunContext) -> Result<Finished, RunError> {
        Ok(run_metadata(context, &parameters.job(MetadataOperation::List))?.into())
    }
}
