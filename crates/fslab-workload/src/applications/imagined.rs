//! What the null engine says of an application: nothing is made or looked at, and the figures come
//! from the seed.

use fslab_engine::{Measured, mix};

use crate::workload::Finished;

/// Figures of so many operations that move so many bytes together.
pub(crate) fn imagined(seed: u64, operations: u64, bytes: u64) -> Finished {
    let operations = operations.max(1);
    let elapsed_ns = operations * (2_000 + mix(seed, operations) % 1_000) + bytes / 4;
    Measured {
        start_ns: 0,
        elapsed_ns,
        operations,
        bytes: Some(bytes.max(1)),
        latencies: Vec::new(),
        series: None,
        cpu: None,
        threads: Vec::new(),
        first_done_ns: elapsed_ns,
        last_done_ns: elapsed_ns,
        notes: Vec::new(),
    }
    .into()
}
