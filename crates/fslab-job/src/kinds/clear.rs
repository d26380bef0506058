//! The job `clear`: removes all files and directories except `lost+found`, depth first, as
//! `rm -r` does.

use fslab_engine::{Measured, MetadataJob, MetadataOperation, RunContext, TreeShape, run_metadata};
use fslab_model::{Bytes, Failure};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::job::Job;
use crate::outcome::{Finished, RunError};

/// Removes all files and directories except `lost+found`, depth first. It has no parameters.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClearParameters {}

impl Job for ClearParameters {
    const NAME: &'static str = "clear";
    const RANKS: bool = true;

    fn resolve(&mut self, _size: Bytes) -> Result<(), String> {
        Ok(())
    }

    fn footprint(&self) -> Bytes {
        Bytes(0)
    }

    fn run(&self, context: &RunContext) -> Result<Finished, RunError> {
        let everything = TreeShape::flat(".", 1, 0);
        let job = MetadataJob::new(MetadataOperation::RemoveAll, everything);
        let Some(ranks) = &context.ranks else {
            return Ok(run_metadata(context, &job)?.into());
        };
        // Removed by one rank, while the others wait.
        let own = match ranks.is_first() {
            true => {
                let alone = RunContext {
                    ranks: None,
                    ..context.clone()
                };
                run_metadata(&alone, &job).map_err(Failure::from)
            }
            false => Ok(Measured::NOTHING),
        };
        Ok(ranks.agree("clear", own)?.into())
    }
}
