//! Everything on the file system is removed, whoever made it, but for `lost+found`: directories are
//! listed, emptied and removed depth first, as rm(1) does with `-r`.

use fslab_engine::{MetadataJob, MetadataOperation, RunContext, TreeShape, run_metadata};
use fslab_model::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::job::Job;
use crate::workload::{Finished, RunError};

/// None: there is nothing to choose.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClearParameters {}

impl Job for ClearParameters {
    const NAME: &'static str = "clear";

    fn settle(&mut self, _size: Bytes) -> Result<(), String> {
        Ok(())
    }

    fn footprint(&self) -> Bytes {
        Bytes(0)
    }

    fn run(&self, context: &RunContext) -> Result<Finished, RunError> {
        let everything = TreeShape::flat(".", 1, 0);
        let job = MetadataJob::new(MetadataOperation::RemoveAll, everything);
        Ok(run_metadata(context, &job)?.into())
    }
}
