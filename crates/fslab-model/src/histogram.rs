//! Latency distributions: an HDR histogram with three significant digits, and its serialised form.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2Serializer};
use serde::{Deserialize, Serialize, de, ser};

/// Lowest latency told apart, in nanoseconds.
const LOWEST_NS: u64 = 1;
/// Highest latency told apart: an hour. A longer one is recorded as an hour.
const HIGHEST_NS: u64 = 3_600_000_000_000;
/// Significant decimal digits kept of every value.
const DIGITS: u8 = 3;

/// Latencies of one kind of operation, in nanoseconds.
///
/// Histograms of threads, repeats or machines are merged by [`LatencyHistogram::merge`];
/// percentiles are never averaged. Serialised as base64 of the HDR "V2" encoding, which other tools
/// read.
#[derive(Clone, Debug, PartialEq)]
pub struct LatencyHistogram(Histogram<u64>);

/// A serialised histogram that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a latency histogram: {0}")]
pub struct HistogramError(String);

impl Default for LatencyHistogram {
    fn default() -> Self {
        Self::new()
    }
}

impl LatencyHistogram {
    /// An empty histogram that allocates once, here: recording never does.
    #[must_use]
    pub fn new() -> Self {
        let histogram = Histogram::new_with_bounds(LOWEST_NS, HIGHEST_NS, DIGITS)
            .expect("the bounds are constants that the library accepts");
        Self(histogram)
    }

    /// Counts one operation of `ns` nanoseconds.
    #[inline]
    pub fn record(&mut self, ns: u64) {
        self.0.saturating_record(ns.max(LOWEST_NS));
    }

    /// Counts `count` operations of `ns` nanoseconds each.
    pub fn record_many(&mut self, ns: u64, count: u64) {
        self.0.saturating_record_n(ns.max(LOWEST_NS), count);
    }

    /// Adds what `other` counted.
    pub fn merge(&mut self, other: &Self) {
        self.0
            .add(&other.0)
            .expect("both histograms have the same bounds");
    }

    /// Number of operations counted.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// Latency at `percentile` (0 to 100) in nanoseconds; `None` where nothing was counted.
    #[must_use]
    pub fn percentile_ns(&self, percentile: f64) -> Option<u64> {
        (!self.0.is_empty()).then(|| self.0.value_at_quantile(percentile / 100.0))
    }

    /// Largest latency in nanoseconds, to three digits; `None` where nothing was counted.
    #[must_use]
    pub fn max_ns(&self) -> Option<u64> {
        (!self.0.is_empty()).then(|| self.0.max())
    }

    /// Smallest latency in nanoseconds, to three digits; `None` where nothing was counted.
    #[must_use]
    pub fn min_ns(&self) -> Option<u64> {
        (!self.0.is_empty()).then(|| self.0.min())
    }

    /// Mean latency in nanoseconds; `None` where nothing was counted.
    #[must_use]
    pub fn mean_ns(&self) -> Option<f64> {
        (!self.0.is_empty()).then(|| self.0.mean())
    }

    /// The counted values in ascending order, each with its count.
    pub fn values(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.0
            .iter_recorded()
            .map(|step| (step.value_iterated_to(), step.count_at_value()))
    }

    /// The HDR "V2" encoding.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        V2Serializer::new()
            .serialize(&self.0, &mut bytes)
            .expect("writing to memory does not fail");
        bytes
    }

    /// Reads what [`LatencyHistogram::to_bytes`] wrote.
    ///
    /// # Errors
    /// Where the bytes are not an HDR "V2" encoding, or one of other bounds than ours.
    pub fn from_bytes(mut bytes: &[u8]) -> Result<Self, HistogramError> {
        let read: Histogram<u64> = Deserializer::new()
            .deserialize(&mut bytes)
            .map_err(|error| HistogramError(error.to_string()))?;
        let mut histogram = Self::new();
        histogram
            .0
            .add(&read)
            .map_err(|error| HistogramError(error.to_string()))?;
        Ok(histogram)
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

#[cfg(test)]
mod tests {
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
        assert!(histogram.max_ns().is_some_and(|ns| ns >= HIGHEST_NS));
    }

    #[test]
    fn garbage_is_refused() {
        assert!(LatencyHistogram::from_bytes(b"garbage").is_err());
    }
}
