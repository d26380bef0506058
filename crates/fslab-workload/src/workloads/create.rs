//! Small files are created, written and closed, one after the other, then syncfs: the sync is part
//! of the time. Their directories are made before the clock starts.

use fslab_engine::{MetadataOperation, RunContext, run_metadata};
use fslab_model::{Headline, PhaseKind};

use crate::parameters::SmallFiles;
use crate::workload::{Definition, Finished, RunError};

pub(crate) struct Create;

impl Definition for Create {
    type Parameters = SmallFiles;
    const NAME: &'static str = "create";
    const TITLE: &'static str = "creation of small files, closed by syncfs";
    const KIND: PhaseKind = PhaseKind::Metadata;
    const HEADLINE: Headline = Headline::OperationRate;

    fn run(parameters: &SmallFiles, context: &RunContext) -> Result<Finished, RunError> {
        Ok(run_metadata(context, &parameters.durable_job(MetadataOperation::Create))?.into())
    }
}
