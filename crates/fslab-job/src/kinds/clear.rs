//! The job `clear`: removes all files and directories except `lost+found`, depth first, as
//! `rm -r` does.

use fslab_engine::{MetadataJob, MetadataOperation, RunContext, TreeShape, run_metadata};
use fslab_model::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::job::Job;
use crate::outcome::{Finished, RunError};

/// No parameters.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClearParameters {}

impl Job for ClearParameters {
    const NAME: &'static str = "clear";

    fn resolve(&mut self, _size: Bytes) -> Result<(), String> {
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
