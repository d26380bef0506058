//! The result of the null engine for an application.

use fslab_engine::mix;

use crate::synthetic::{SyntheticCost, synthetic_result};
use crate::workload::Finished;

/// Figures of `operations` that move `bytes` together; at least one of each.
pub(crate) fn synthetic_application(seed: u64, operations: u64, bytes: u64) -> Finished {
    let (operations, bytes) = (operations.max(1), bytes.max(1));
    let draw = mix(seed, operations);
    synthetic_result(draw, SyntheticCost::CALL, operations, Some(bytes)).into()
}
