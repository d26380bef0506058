//! A latency histogram: only buckets that are not empty, since a run has thousands of histograms,
//! each with some hundred of 33,000 buckets.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize, de, ser};

use super::buckets::{LAST_NS, index, largest_ns, smallest_ns};
use super::encoding::{decode, encode};
use crate::text::text_type::text_schema;

/// Latencies of one kind of operation, in nanoseconds, to three digits; 0 counts as 1.
///
/// Histograms of threads, repeats or machines are merged by [`LatencyHistogram::merge`];
/// percentiles are never averaged. Serialised as base64 of the HDR "V2" encoding, which other tools
/// read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LatencyHistogram {
    /// The largest value of each bucket, in ascending order, and its count.
    buckets: Vec<(u64, u64)>,
}

/// A serialised histogram that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a latency histogram: {0}")]
pub struct HistogramError(&'static str);

impl LatencyHistogram {
    /// An empty histogram.
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts one operation of `ns` nanoseconds. May allocate: see [`crate::LatencyCounts`].
    pub fn record(&mut self, ns: u64) {
        self.record_many(ns, 1);
    }

    /// Counts `count` operations of `ns` nanoseconds each.
    pub fn record_many(&mut self, ns: u64, count: u64) {
        if count == 0 {
            return;
        }
        let largest = largest_ns(index(ns.clamp(1, LAST_NS)));
        let found = self
            .buckets
            .binary_search_by_key(&largest, |bucket| bucket.0);
        match found {
            Ok(at) => self.buckets[at].1 = self.buckets[at].1.saturating_add(count),
            Err(at) => self.buckets.insert(at, (largest, count)),
        }
    }

    /// Adds what `other` counted.
    pub fn merge(&mut self, other: &Self) {
        self.buckets.extend_from_slice(&other.buckets);
        self.buckets.sort_by_key(|bucket| bucket.0);
        self.buckets.dedup_by(|next, kept| {
            let is_same = next.0 == kept.0;
            if is_same {
                kept.1 = kept.1.saturating_add(next.1);
            }
            is_same
        });
    }

    /// Number of operations counted.
    pub fn count(&self) -> u64 {
        let counts = self.buckets.iter().map(|(_, count)| *count);
        counts.fold(0, u64::saturating_add)
    }

    /// Latency at `percentile` (0 to 100) in nanoseconds, as HDR defines it: the largest of the
    /// bucket with the operation of rank ⌈quantile · count⌉, at least 1. `None` if empty.
    pub fn percentile_ns(&self, percentile: f64) -> Option<u64> {
        let quantile = percentile / 100.0;
        if quantile == 0.0 {
            return self.min_ns();
        }
        let rank = (quantile.min(1.0) * self.count() as f64).ceil().max(1.0) as u64;
        let mut counted = 0;
        let mut buckets = self.buckets.iter();
        let found = buckets.find(|(_, count)| {
            counted = u64::saturating_add(counted, *count);
            counted >= rank
        });
        found.map(|(largest, _)| *largest)
    }

    /// Largest latency in nanoseconds, to three digits; `None` if empty.
    pub fn max_ns(&self) -> Option<u64> {
        self.buckets.last().map(|(largest, _)| *largest)
    }

    /// Smallest latency in nanoseconds, to three digits; `None` if empty.
    pub fn min_ns(&self) -> Option<u64> {
        self.buckets
            .first()
            .map(|(largest, _)| smallest_ns(*largest))
    }

    /// Mean latency in nanoseconds, with each operation in the middle of its bucket; `None` if
    /// empty.
    pub fn mean_ns(&self) -> Option<f64> {
        let total = self.count();
        let share = |(largest, count): &(u64, u64)| {
            let smallest = smallest_ns(*largest);
            let middle = smallest + (largest - smallest).div_ceil(2);
            middle as f64 * *count as f64 / total as f64
        };
        (total > 0).then(|| self.buckets.iter().map(share).sum())
    }

    /// The counted values in ascending order, each with its count.
    pub fn values(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.buckets.iter().copied()
    }

    /// The HDR "V2" encoding.
    pub fn to_bytes(&self) -> Vec<u8> {
        encode(&self.buckets)
    }

    /// Reads what [`LatencyHistogram::to_bytes`] wrote.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, HistogramError> {
        let mut buckets = decode(bytes).map_err(HistogramError)?;
        buckets.shrink_to_fit();
        Ok(Self { buckets })
    }
}

impl Serialize for LatencyHistogram {
    fn serialize<S: ser::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD.encode(self.to_bytes()))
    }
}

impl<'de> Deserialize<'de> for LatencyHistogram {
    fn deserialize<D: de::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let bytes = STANDARD.decode(text).map_err(de::Error::custom)?;
        Self::from_bytes(&bytes).map_err(de::Error::custom)
    }
}

text_schema!(LatencyHistogram, {
    "description": "Latencies in nanoseconds: an HDR histogram in its encoding V2, as base64.",
    "type": "string",
    "contentEncoding": "base64"
});

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn percentiles_are_within_a_thousandth_and_survive_serialisation() {
        let mut histogram = LatencyHistogram::new();
        (1..=100_000_u64).for_each(|ns| histogram.record(ns));
        let median = histogram.percentile_ns(50.0).expect("counted");
        assert!((49_950..=50_050).contains(&median), "{median}");
        let json = serde_json::to_string(&histogram).expect("serialises");
        let back: LatencyHistogram = serde_json::from_str(&json).expect("reads");
        assert_eq!(back, histogram);
    }

    #[test]
    fn merging_counts_both_and_an_empty_one_has_no_percentile() {
        let (mut a, mut b) = (LatencyHistogram::new(), LatencyHistogram::new());
        assert_eq!(a.percentile_ns(50.0), None);
        a.record(1_000);
        b.record(9_000);
        a.merge(&b);
        assert_eq!(a.count(), 2);
        assert_eq!(a.min_ns().map(|ns| ns / 1_000), Some(1));
        assert!(a.max_ns().is_some_and(|ns| (9_000..9_010).contains(&ns)));
    }

    #[test]
    fn a_latency_over_an_hour_counts_as_an_hour() {
        let mut histogram = LatencyHistogram::new();
        histogram.record(u64::MAX);
        assert_eq!(histogram.count(), 1);
        assert!(histogram.max_ns() >= Some(3_600_000_000_000));
    }

    proptest! {
        #[test]
        fn merging_two_histograms_equals_recording_in_one(
            one in vec((0..=LAST_NS, 0..1_000_u64), 0..40),
            other in vec((0..5_000_u64, 0..3_u64), 0..40),
        ) {
            let of = |parts: &[&[(u64, u64)]]| {
                let mut histogram = LatencyHistogram::new();
                for (ns, count) in parts.concat() {
                    histogram.record_many(ns, count);
                }
                histogram
            };
            let mut merged = of(&[&one]);
            merged.merge(&of(&[&other]));
            prop_assert_eq!(merged, of(&[&one, &other]));
        }

        #[test]
        fn torn_encodings_end_in_an_error_or_a_histogram(cut in 0..200_usize, at: usize, bit: u8) {
            let mut histogram = LatencyHistogram::new();
            (1..100_u64).for_each(|n| histogram.record(n * n * 7_919));
            let mut bytes = histogram.to_bytes();
            bytes.truncate(bytes.len().saturating_sub(cut));
            let place = at % bytes.len().max(1);
            if let Some(byte) = bytes.get_mut(place) {
                *byte ^= 1 << (bit % 8);
            }
            if let Ok(read) = LatencyHistogram::from_bytes(&bytes) {
                prop_assert!(read.values().all(|(_, count)| count > 0));
            }
        }
    }

    #[test]
    fn garbage_is_refused() {
        assert!(LatencyHistogram::from_bytes(b"garbage").is_err());
    }
}
