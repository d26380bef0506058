//! What is wrong with a file of a state.

use fslab_model::{FaultKind, PromiseId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Something that is wrong in a state.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct StateFault {
    /// What.
    pub fault: FaultKind,
    /// The promise that it would break, where the file system gives it.
    pub promise: PromiseId,
    /// The name of the file.
    pub name: String,
    /// Bytes of it; 0 where no data is meant.
    pub bytes: u64,
}
