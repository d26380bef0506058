//! Random numbers of a seed: SplitMix64 (Steele, Lea, Flood 2014).

use std::time::Duration;

/// A source of random numbers.
#[derive(Clone, Debug)]
pub(super) struct Chance(pub(super) u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`; 0 of an empty range.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        (self.next() % (bound.max(1) as u64)) as usize
    }

    /// A time up to `most`.
    pub(super) fn moment(&mut self, most: Duration) -> Duration {
        most.mul_f64(self.next() as f64 / u64::MAX as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_numbers_and_they_stay_in_range() {
        let (mut one, mut other) = (Chance(7), Chance(7));
        for bound in 1..100 {
            let number = one.below(bound);
            assert_eq!(number, other.below(bound));
            assert!(number < bound);
        }
        let most = Duration::from_secs(2);
        assert!((0..100).all(|_| one.moment(most) <= most));
        assert_eq!(one.below(0), 0);
    }
}
