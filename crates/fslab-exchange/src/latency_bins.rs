//! fio's histogram of latencies: bins of 1 ns below 128 ns, above it 64 bins per power of two.
//!
//! A bin is named by its middle value. [`fslab_model::LatencyHistogram`] is finer (a thousandth),
//! so a bin's name converted to it and back gives the same bin.

/// Bins for each power of two.
const BINS_LOG2: u32 = 6;
const BINS: u64 = 1 << BINS_LOG2;

/// fio's last bin, without an upper end: 19 groups of 64 bins for microseconds in version 2, 29 for
/// nanoseconds since version 3.
pub(crate) const LAST_OF_MICROSECONDS: u64 = 19 * BINS - 1;
pub(crate) const LAST_OF_NANOSECONDS: u64 = 29 * BINS - 1;

/// The bin of a latency.
pub(crate) fn index(value: u64) -> u64 {
    if value < 2 * BINS {
        return value;
    }
    let shift = value.ilog2() - BINS_LOG2;
    // The leading one belongs to the group, not to the place in it.
    u64::from(shift + 1) * BINS + (value >> shift) % BINS
}

/// The middle value of a bin; `None` if no 64-bit value belongs to it.
pub(crate) fn middle(index: u64) -> Option<u64> {
    if index < 2 * BINS {
        return Some(index);
    }
    let shift = u32::try_from(index / BINS - 1)
        .ok()
        .filter(|shift| shift + BINS_LOG2 < 64)?;
    let begin = (BINS + index % BINS) << shift;
    Some(begin + (1 << (shift - 1)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fslab_model::LatencyHistogram;

    #[test]
    fn bins_are_those_that_fio_prints() {
        // From an output of fio 3.33.
        for name in [10_688, 10_816, 12_096, 15_040, 16_320, 63_744] {
            assert_eq!(middle(index(name)), Some(name));
        }
        assert_eq!(
            (middle(127), middle(128), middle(129)),
            (Some(127), Some(129), Some(131))
        );
    }

    #[test]
    fn a_bin_survives_the_way_through_our_histogram() {
        let last = index(3_600_000_000_000);
        for bin in 1..last {
            let name = middle(bin).expect("below an hour");
            let mut histogram = LatencyHistogram::new();
            histogram.record_many(name, 3);
            let kept: Vec<_> = histogram
                .values()
                .map(|(ns, count)| (index(ns), count))
                .collect();
            assert_eq!(kept, [(bin, 3)], "{name}");
        }
    }

    #[test]
    fn the_last_bins_have_the_names_that_fio_prints() {
        assert_eq!(middle(LAST_OF_NANOSECONDS), Some(17_112_760_320));
        assert_eq!(middle(LAST_OF_MICROSECONDS), Some(16_711_680));
    }

    #[test]
    fn there_is_no_bin_beyond_the_last_value() {
        assert_eq!(middle(index(u64::MAX)).map(index), Some(index(u64::MAX)));
        assert_eq!(middle(index(u64::MAX) + 1), None);
    }
}
