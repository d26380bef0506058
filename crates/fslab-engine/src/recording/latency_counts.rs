//! Counts latencies with about a dozen instructions, in the buckets of [`LatencyHistogram`].
//!
//! The general histogram checks bounds, resizes and updates extremes for every value, about sixty
//! instructions; here that is done once at the end. The buckets are the same: exact below 2048 ns,
//! then 1024 per power of two.

use fslab_model::LatencyHistogram;

/// Bits per power of two, for three significant decimal digits.
const SPAN_BITS: u32 = 10;
/// Latencies from here on, about an hour, share the last bucket.
const HIGHEST_NS: u64 = (1 << 42) - 1;
const BUCKETS: usize = bucket(HIGHEST_NS) + 1;

/// Latencies of one kind of operation, in nanoseconds.
#[derive(Clone, Debug)]
pub(crate) struct LatencyCounts(Box<[u64]>);

impl LatencyCounts {
    pub(crate) fn new() -> Self {
        Self(vec![0; BUCKETS].into())
    }

    /// Counts one operation.
    #[inline]
    pub(crate) fn record(&mut self, latency_ns: u64) {
        self.0[bucket(latency_ns.min(HIGHEST_NS))] += 1;
    }

    /// Resets all counts.
    pub(crate) fn clear(&mut self) {
        self.0.fill(0);
    }

    /// The counts as a histogram.
    pub(crate) fn histogram(&self) -> LatencyHistogram {
        let mut histogram = LatencyHistogram::new();
        for (bucket, count) in self.0.iter().enumerate() {
            if *count > 0 {
                histogram.record_many(lowest_ns(bucket), *count);
            }
        }
        histogram
    }
}

/// The bucket of a latency.
#[inline]
const fn bucket(latency_ns: u64) -> usize {
    let shift = (latency_ns | 1 << SPAN_BITS).ilog2() - SPAN_BITS;
    ((shift as usize) << SPAN_BITS) + (latency_ns >> shift) as usize
}

/// The lowest latency in a bucket.
const fn lowest_ns(bucket: usize) -> u64 {
    let shift = (bucket >> SPAN_BITS).saturating_sub(1);
    ((bucket - (shift << SPAN_BITS)) as u64) << shift
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
            let (mut counts, mut histogram) = (LatencyCounts::new(), LatencyHistogram::new());
            for latency_ns in &latencies {
                counts.record(*latency_ns);
                histogram.record(*latency_ns);
            }
            let counted: Vec<_> = counts.histogram().values().collect();
            prop_assert_eq!(counted, histogram.values().collect::<Vec<_>>());
            prop_assert_eq!(counts.histogram().max_ns(), histogram.max_ns());
            prop_assert_eq!(counts.histogram().min_ns(), histogram.min_ns());
        }
    }

    #[test]
    fn buckets_follow_one_another_without_a_gap() {
        for bucket_number in 1..BUCKETS {
            let lowest = lowest_ns(bucket_number);
            assert_eq!(bucket(lowest), bucket_number);
            assert_eq!(bucket(lowest - 1), bucket_number - 1);
        }
    }

    #[test]
    fn no_latency_is_too_long() {
        let mut counts = LatencyCounts::new();
        counts.record(u64::MAX);
        assert!(counts.histogram().max_ns() >= Some(3_600_000_000_000));
    }
}
