//! Latency distributions: an HDR histogram with three significant digits, and its serialised form.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2Serializer};
use serde::{Deserialize, Serialize, de, ser};

use crate::packed::Packed;
use crate::text_type::text_schema;

/// Lowest latency in nanoseconds.
const LOWEST_NS: u64 = 1;
/// Highest latency in nanoseconds: an hour. Longer ones count as an hour.
const HIGHEST_NS: u64 = 3_600_000_000_000;
/// Significant decimal digits kept of every value.
const DIGITS: u8 = 3;

/// Latencies of one kind of operation, in nanoseconds.
///
/// Histograms of threads, repeats or machines are merged by [`LatencyHistogram::merge`];
/// percentiles are never averaged. Serialised as base64 of the HDR "V2" encoding, which other tools
/// read.
#[derive(Clone, Debug)]
pub struct LatencyHistogram(Counts);

#[derive(Clone, Debug)]
enum Counts {
    /// All counters, for recording and merging.
    Open(Histogram<u64>),
    /// A histogram that was read: a thousandth of the memory.
    Packed(Packed),
}

impl PartialEq for LatencyHistogram {
    fn eq(&self, other: &Self) -> bool {
        self.values().eq(other.values())
    }
}

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
    /// An empty histogram. Allocates here; recording never does.
    #[must_use]
    pub fn new() -> Self {
        Self(Counts::Open(open()))
    }

    fn counters(&mut self) -> &mut Histogram<u64> {
        if let Counts::Packed(packed) = &self.0 {
            self.0 = Counts::Open(unpacked(packed));
        }
        match &mut self.0 {
            Counts::Open(histogram) => histogram,
            Counts::Packed(_) => unreachable!("it was opened a line ago"),
        }
    }

    /// Counts one operation of `ns` nanoseconds.
    #[inline]
    pub fn record(&mut self, ns: u64) {
        self.counters().saturating_record(ns.max(LOWEST_NS));
    }

    /// Counts `count` operations of `ns` nanoseconds each.
    pub fn record_many(&mut self, ns: u64, count: u64) {
        self.counters()
            .saturating_record_n(ns.max(LOWEST_NS), count);
    }

    /// Adds what `other` counted.
    pub fn merge(&mut self, other: &Self) {
        if let (Counts::Packed(ours), Counts::Packed(theirs)) = (&self.0, &other.0)
            && let Some(merged) = ours.merged(theirs)
        {
            self.0 = Counts::Packed(merged);
            return;
        }
        let counters = self.counters();
        match &other.0 {
            Counts::Open(other) => counters
                .add(other)
                .expect("both histograms have the same bounds"),
            Counts::Packed(other) => add(counters, other),
        }
    }

    /// Number of operations counted.
    #[must_use]
    pub fn count(&self) -> u64 {
        match &self.0 {
            Counts::Open(histogram) => histogram.len(),
            Counts::Packed(packed) => packed.total(),
        }
    }

    /// Latency at `percentile` (0 to 100) in nanoseconds; `None` if empty.
    #[must_use]
    pub fn percentile_ns(&self, percentile: f64) -> Option<u64> {
        let quantile = percentile / 100.0;
        match &self.0 {
            Counts::Open(it) => (!it.is_empty()).then(|| it.value_at_quantile(quantile)),
            Counts::Packed(packed) => packed.at_quantile(quantile),
        }
    }

    /// Largest latency in nanoseconds, to three digits; `None` if empty.
    #[must_use]
    pub fn max_ns(&self) -> Option<u64> {
        match &self.0 {
            Counts::Open(histogram) => (!histogram.is_empty()).then(|| histogram.max()),
            Counts::Packed(packed) => packed.max(),
        }
    }

    /// Smallest latency in nanoseconds, to three digits; `None` if empty.
    #[must_use]
    pub fn min_ns(&self) -> Option<u64> {
        match &self.0 {
            Counts::Open(histogram) => (!histogram.is_empty()).then(|| histogram.min()),
            Counts::Packed(packed) => packed.min(),
        }
    }

    /// Mean latency in nanoseconds; `None` if empty.
    #[must_use]
    pub fn mean_ns(&self) -> Option<f64> {
        match &self.0 {
            Counts::Open(histogram) => (!histogram.is_empty()).then(|| histogram.mean()),
            Counts::Packed(packed) => packed.mean(),
        }
    }

    /// The counted values in ascending order, each with its count.
    pub fn values(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let (open, packed) = match &self.0 {
            Counts::Open(histogram) => (Some(recorded(histogram)), None),
            Counts::Packed(packed) => (None, Some(packed.buckets().iter().copied())),
        };
        let open = open.into_iter().flatten();
        open.chain(packed.into_iter().flatten())
    }

    /// The HDR "V2" encoding.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        if let Counts::Packed(packed) = &self.0
            && let Some(bytes) = packed.write(HIGHEST_NS)
        {
            return bytes;
        }
        let histogram = match &self.0 {
            Counts::Open(histogram) => Cow::Borrowed(histogram),
            Counts::Packed(packed) => Cow::Owned(unpacked(packed)),
        };
        let mut bytes = Vec::new();
        V2Serializer::new()
            .serialize(&histogram, &mut bytes)
            .expect("writing to memory does not fail");
        bytes
    }

    /// Reads what [`LatencyHistogram::to_bytes`] wrote.
    ///
    /// # Errors
    /// If the bytes are not an HDR "V2" encoding, or have other bounds.
    pub fn from_bytes(mut bytes: &[u8]) -> Result<Self, HistogramError> {
        if let Some(packed) = Packed::read(bytes, HIGHEST_NS) {
            return Ok(Self(Counts::Packed(packed)));
        }
        let read: Histogram<u64> = Deserializer::new()
            .deserialize(&mut bytes)
            .map_err(|error| HistogramError(error.to_string()))?;
        let mut histogram = open();
        histogram
            .add(&read)
            .map_err(|error| HistogramError(error.to_string()))?;
        Ok(Self(Counts::Packed(Packed::of(recorded(&histogram)))))
    }
}

fn open() -> Histogram<u64> {
    Histogram::new_with_bounds(LOWEST_NS, HIGHEST_NS, DIGITS)
        .expect("the bounds are constants that the library accepts")
}

fn unpacked(packed: &Packed) -> Histogram<u64> {
    let mut histogram = open();
    add(&mut histogram, packed);
    histogram
}

fn add(counters: &mut Histogram<u64>, packed: &Packed) {
    for (ns, count) in packed.buckets() {
        counters.saturating_record_n(*ns, *count);
    }
}

fn recorded(histogram: &Histogram<u64>) -> impl Iterator<Item = (u64, u64)> + '_ {
    histogram
        .iter_recorded()
        .map(|step| (step.value_iterated_to(), step.count_at_value()))
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
        assert!(histogram.max_ns().is_some_and(|ns| ns >= HIGHEST_NS));
    }

    proptest! {
        /// A packed histogram must give the same figures as the recorded one.
        #[test]
        fn a_histogram_that_was_read_back_answers_as_the_one_that_recorded(
            counted in vec((0..=HIGHEST_NS, 1..1_000_u64), 0..40),
            small in vec((0..5_000_u64, 1..3_u64), 0..40),
        ) {
            let mut recorded = LatencyHistogram::new();
            for (ns, count) in counted.iter().chain(&small) {
                recorded.record_many(*ns, *count);
            }
            let read = LatencyHistogram::from_bytes(&recorded.to_bytes()).expect("reads");
            prop_assert!(matches!(read.0, Counts::Packed(_)));
            prop_assert_eq!(&read, &recorded);
            prop_assert_eq!(read.count(), recorded.count());
            prop_assert_eq!((read.min_ns(), read.max_ns()), (recorded.min_ns(), recorded.max_ns()));
            for percentile in [0.0, 1.0, 33.3, 50.0, 95.0, 99.0, 99.9, 100.0] {
                prop_assert_eq!(read.percentile_ns(percentile), recorded.percentile_ns(percentile));
            }
            prop_assert_eq!(read.mean_ns(), recorded.mean_ns());
            prop_assert_eq!(read.to_bytes(), recorded.to_bytes());
            let (mut twice, mut both) = (read.clone(), recorded.clone());
            twice.merge(&recorded);
            both.merge(&read);
            prop_assert_eq!(twice.to_bytes(), both.to_bytes());
            let mut packed = read.clone();
            packed.merge(&read);
            prop_assert!(matches!(packed.0, Counts::Packed(_)));
            prop_assert_eq!(packed.to_bytes(), both.to_bytes());
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
