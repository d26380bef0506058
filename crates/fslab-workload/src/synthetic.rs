//! Figures of jobs that issue operations without an engine, measured or synthetic (null engine).

use fslab_engine::Measured;

/// Figures of a phase that is timed as one, without latencies.
pub(crate) fn measured(elapsed_ns: u64, operations: u64, bytes: Option<u64>) -> Measured {
    Measured {
        start_ns: 0,
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
pub(crate) struct SyntheticCost {
    /// Minimum.
    pub(crate) each_ns: u64,
    /// Added at random: less than this.
    pub(crate) spread_ns: u64,
}

impl SyntheticCost {
    /// A system call.
    pub(crate) const CALL: Self = Self {
        each_ns: 2_000,
        spread_ns: 1_000,
    };

    /// An operation of `each_ns` to 1.25 `each_ns`.
    pub(crate) fn about(each_ns: u64) -> Self {
        Self {
            each_ns,
            spread_ns: each_ns / 4,
        }
    }
}

/// The result of the null engine: computed from the amounts and from `draw`, a random number. A
/// byte takes 0.25 ns.
pub(crate) fn synthetic_result(
    draw: u64,
    cost: SyntheticCost,
    operations: u64,
    bytes: Option<u64>,
) -> Measured {
    let each_ns = cost.each_ns + draw % cost.spread_ns.max(1);
    let elapsed_ns = operations * each_ns + bytes.unwrap_or(0) / 4;
    measured(elapsed_ns, operations, bytes)
}
