//! A seeded permutation of 0..n without memory per element.
//!
//! Rounds of odd multiplication, addition and xor-shift are bijections of k-bit numbers, where 2^k
//! is the next power of two at or above n. A result outside 0..n is permuted again until it is
//! inside (cycle walking, Black and Rogaway 2002), which takes fewer than two turns on average.

use fslab_stats::Random;

const ROUNDS: usize = 3;

/// A bijection of 0..n.
#[derive(Clone, Debug)]
pub(crate) struct Permutation {
    count: u64,
    mask: u64,
    shift: u32,
    rounds: [(u64, u64); ROUNDS],
}

impl Permutation {
    /// A permutation of 0..`count` from the next random numbers; `count` is not 0.
    pub(crate) fn new(count: u64, random: &mut Random) -> Self {
        let bits = (u64::BITS - (count - 1).leading_zeros()).max(1);
        let rounds = std::array::from_fn(|_| (random.next_u64() | 1, random.next_u64()));
        Self {
            count,
            mask: u64::MAX >> (u64::BITS - bits),
            shift: bits.div_ceil(2),
            rounds,
        }
    }

    /// The image of `index`, which is below n.
    #[inline]
    pub(crate) fn at(&self, index: u64) -> u64 {
        let mut value = index;
        loop {
            for (factor, summand) in self.rounds {
                value = value.wrapping_mul(factor).wrapping_add(summand) & self.mask;
                value ^= value >> self.shift;
            }
            if value < self.count {
                return value;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_element_occurs_exactly_once(count in 1_u64..5_000, seed: u64) {
            let permutation = Permutation::new(count, &mut Random::new(seed, 0));
            let mut met = vec![false; usize::try_from(count).expect("small")];
            for index in 0..count {
                let at = usize::try_from(permutation.at(index)).expect("small");
                prop_assert!(!met[at], "{at} twice");
                met[at] = true;
            }
        }

        #[test]
        fn huge_ranges_stay_inside(count in (1_u64 << 60)..u64::MAX, index in 0_u64..1 << 60) {
            let permutation = Permutation::new(count, &mut Random::new(count, 0));
            prop_assert!(permutation.at(index) < count);
        }
    }

    #[test]
    fn neighbours_are_separated() {
        let count = 10_000;
        let permutation = Permutation::new(count, &mut Random::new(7, 0));
        let close = (1..count)
            .filter(|i| permutation.at(*i).abs_diff(permutation.at(i - 1)) < 100)
            .count();
        // In random pairs of 10,000, 2 % are closer than 100.
        assert!(close < 400, "{close} neighbours stayed close");
    }
}
