//! The buckets of latencies: those of an HDR histogram to an hour with three significant digits.
//!
//! Exact below 2048 ns, then 1024 per power of two. A bucket has an index and a largest value.

/// Highest latency of an encoding in nanoseconds: an hour.
pub(super) const HIGHEST_NS: u64 = 3_600_000_000_000;
/// Significant decimal digits of every latency.
pub(super) const DIGITS: u32 = 3;
/// Latencies from here on, a little more than an hour, share the last bucket.
pub(super) const LAST_NS: u64 = (1 << 42) - 1;
/// Number of buckets.
pub(super) const BUCKETS: usize = index(LAST_NS) + 1;
/// Bits per power of two: three digits need 2048 buckets, whose lower half is that of the power
/// before.
const HALF_BITS: u32 = 10;

/// The index of the bucket of a latency, at most [`LAST_NS`].
#[inline]
pub(super) const fn index(ns: u64) -> usize {
    let shift = shift(ns);
    ((shift as usize) << HALF_BITS) + (ns >> shift) as usize
}

/// The largest latency in a bucket by index.
pub(super) const fn largest_ns(index: usize) -> u64 {
    let shift = (index >> HALF_BITS).saturating_sub(1);
    let next = (index - (shift << HALF_BITS)) as u64 + 1;
    (next << shift) - 1
}

/// The smallest latency in the bucket of a latency.
pub(super) const fn smallest_ns(ns: u64) -> u64 {
    let shift = shift(ns);
    (ns >> shift) << shift
}

#[inline]
const fn shift(ns: u64) -> u32 {
    (ns | 1 << HALF_BITS).ilog2() - HALF_BITS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_follow_one_another_without_a_gap() {
        for at in 1..BUCKETS {
            let smallest = smallest_ns(largest_ns(at));
            assert_eq!(index(smallest), at);
            assert_eq!(index(largest_ns(at)), at);
            assert_eq!(smallest, largest_ns(at - 1) + 1);
        }
        assert_eq!(largest_ns(BUCKETS - 1), LAST_NS);
    }
}
