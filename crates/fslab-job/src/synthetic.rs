//! Figures of jobs that issue operations without an engine, measured or synthetic (null engine).

use fslab_engine::Measured;
use fslab_stats::mix;

use crate::outcome::Finished;

/// Figures of a phase that is timed as one, without latencies.
pub fn measured(elapsed_ns: u64, operations: u64, bytes: Option<u64>) -> Measured {
    Measured {
        start_ns: 0,
        start_skew_ns: 0,
        elapsed_ns,
        operations,
        bytes,
        latencies: Vec::new(),
        series: None,
        cpu: None,
        threads: Vec::new(),
        first_done_ns: elapsed_ns,
        last_done_ns: elapsed_ns,
        notes: Vec::new(),
    }
}

/// Synthetic duration of an operation.
#[derive(Clone, Copy, Debug)]
pub struct SyntheticCost {
    /// Minimum.
    pub each_ns: u64,
    /// Added at random: less than this.
    pub spread_ns: u64,
}

impl SyntheticCost {
    /// A system call.
    pub const CALL: Self = Self {
        each_ns: 2_000,
        spread_ns: 1_000,
    };

    /// An operation of `each_ns` to 1.25 `each_ns`.
    pub fn about(each_ns: u64) -> Self {
        Self {
            each_ns,
            spread_ns: each_ns / 4,
        }
    }
}

/// The result of the null engine: computed from the amounts and from `draw`, a random number. A
/// byte takes 0.25 ns.
pub fn synthetic_result(
    draw: u64,
    cost: SyntheticCost,
    operations: u64,
    bytes: Option<u64>,
) -> Measured {
    let each_ns = cost.each_ns + draw % cost.spread_ns.max(1);
    let elapsed_ns = operations * each_ns + bytes.unwrap_or(0) / 4;
    measured(elapsed_ns, operations, bytes)
}

/// Figures of `operations` that move `bytes` together; at least one of each.
pub fn synthetic_application(seed: u64, operations: u64, bytes: u64) -> Finished {
    let (operations, bytes) = (operations.max(1), bytes.max(1));
    let draw = mix(seed, operations);
    synthetic_result(draw, SyntheticCost::CALL, operations, Some(bytes)).into()
}
