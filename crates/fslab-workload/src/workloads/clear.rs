//! Everything on the file system is removed, whoever made it, but for `lost+found`: directories are
//! listed, emptied and removed depth first, as rm(1) does with `-r`.

use std::path::PathBuf;

use fslab_engine::{MetadataJob, MetadataOperation, RunContext, TreeShape, run_metadata};
use fslab_model::{Bytes, Headline, PhaseKind};
use serde::{Deserialize, Serialize};

use crate::workload::{Definition, Finished, RunError, WorkloadParameters};

pub(crate) struct Clear;

/// None: there is nothing to choose.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClearParameters {}

impl WorkloadParameters for ClearParameters {
    fn settle(&mut self, _size: Bytes) -> Result<(), String> {
        Ok(())
    }

    fn footprint(&self) -> Bytes {
        Bytes(0)
    }

    fn data_files(&self) -> Option<Vec<PathBuf>> {
        None
    }
}

impl Definition for Clear {
    type Parameters = ClearParameters;
    const NAME: &'static str = "clear";
    const TITLE: &'static str = "removal of everything on the file system";
    const KIND: PhaseKind = PhaseKind::Metadata;
    const HEADLINE: Headline = Headline::OperationRate;

    fn run(_parameters: &ClearParameters, context: &RunContext) -> Result<Finished, RunError> {
        let everything = TreeShape::flat(".", 1, 0);
        let job = MetadataJob::new(MetadataOperation::RemoveAll, everything);
        Ok(run_metadata(context, &job)?.into())
    }
}
