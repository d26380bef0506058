//! Counts latencies with about a dozen instructions.

use super::buckets::{BUCKETS, LAST_NS, index, largest_ns};
use super::latency_histogram::LatencyHistogram;

/// Latencies of one kind of operation while they are recorded, in nanoseconds. Recording never
/// allocates.
#[derive(Clone, Debug)]
pub struct LatencyCounts(Box<[u64]>);

impl Default for LatencyCounts {
    fn default() -> Self {
        Self(vec![0; BUCKETS].into())
    }
}

impl LatencyCounts {
    /// Counts one operation.
    #[inline]
    pub fn record(&mut self, latency_ns: u64) {
        self.0[index(latency_ns.min(LAST_NS))] += 1;
    }

    /// Resets all counts.
    pub fn clear(&mut self) {
        self.0.fill(0);
    }

    /// The counts as a histogram.
    pub fn histogram(&self) -> LatencyHistogram {
        let mut histogram = LatencyHistogram::new();
        for (index, count) in self.0.iter().enumerate() {
            histogram.record_many(largest_ns(index), *count);
        }
        histogram
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_histogram_equals_one_recorded_singly(
            latencies in proptest::collection::vec(0_u64..5_000_000_000, 1..200),
        ) {
            let (mut counts, mut histogram) = (LatencyCounts::default(), LatencyHistogram::new());
            for latency_ns in &latencies {
                counts.record(*latency_ns);
                histogram.record(*latency_ns);
            }
            prop_assert_eq!(counts.histogram(), histogram);
        }
    }

    #[test]
    fn no_latency_is_too_long() {
        let mut counts = LatencyCounts::default();
        counts.record(u64::MAX);
        assert!(counts.histogram().max_ns() >= Some(3_600_000_000_000));
    }
}
