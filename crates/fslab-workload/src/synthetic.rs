//! The result of the null engine for jobs that are not run by an engine, and the figures that such
//! jobs have in common.

use fslab_engine::Measured;

/// Figures of a phase that is measured from its start to its end, without those of single
/// operations.
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

/// What an operation takes that is not performed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SyntheticCost {
    /// At least so much, in nanoseconds.
    pub(crate) each_ns: u64,
    /// And less than so much more, in nanoseconds.
    pub(crate) spread_ns: u64,
}

impl SyntheticCost {
    /// That of a system call.
    pub(crate) const CALL: Self = Self {
        each_ns: 2_000,
        spread_ns: 1_000,
    };

    /// That of something that takes about `each_ns`.
    pub(crate) fn about(each_ns: u64) -> Self {
        Self {
            each_ns,
            spread_ns: each_ns / 4,
        }
    }
}

/// The result of the null engine: nothing is performed, and the figures follow from the amounts and
/// from `draw`, a random number of the seed. A byte takes a quarter of a nanosecond.
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
