//! Pseudo-random numbers and mixing functions, all decided by a seed.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// A stream of pseudo-random numbers: xoshiro256++.
#[derive(Clone, Debug)]
pub struct Random(Xoshiro256PlusPlus);

impl Random {
    /// The stream of `seed` for one `purpose`, so that no two uses of a seed are correlated.
    #[must_use]
    pub fn new(seed: u64, purpose: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(mix(seed, purpose)))
    }

    /// Any 64 bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number below `bound`, which is not 0; its bias is below `bound` / 2^64.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        let product = u128::from(self.next_u64()) * u128::from(bound);
        (product >> 64) as u64
    }

    /// A number in [0, 1), in steps of 2^-53.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Fills `bytes`, whose length is a multiple of 8.
    pub(crate) fn fill(&mut self, bytes: &mut [u8]) {
        for word in bytes.chunks_exact_mut(8) {
            word.copy_from_slice(&self.0.next_u64().to_le_bytes());
        }
    }
}

/// Mixes two numbers into one: the finaliser of SplitMix64 (Steele, Lea and Flood 2014).
#[inline]
#[must_use]
pub const fn mix(a: u64, b: u64) -> u64 {
    let mut z = a ^ b
        .wrapping_add(0x9e37_79b9_7f4a_7c15)
        .wrapping_mul(0xff51_afd7_ed55_8ccd);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A number for `text`, the same on every machine.
pub(crate) fn mix_bytes(seed: u64, text: &[u8]) -> u64 {
    text.chunks(8)
        .fold(mix(seed, text.len() as u64), |state, chunk| {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            mix(state, u64::from_le_bytes(word))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_below_a_bound_are_spread_evenly() {
        let mut random = Random::new(1, 2);
        let mut counts = [0_u32; 10];
        for _ in 0..100_000 {
            counts[usize::try_from(random.below(10)).expect("small")] += 1;
        }
        assert!(
            counts.iter().all(|count| (9_500..10_500).contains(count)),
            "{counts:?}"
        );
    }

    #[test]
    fn the_same_seed_and_purpose_give_the_same_stream_and_others_do_not() {
        assert_eq!(Random::new(1, 2).next_u64(), Random::new(1, 2).next_u64());
        assert_ne!(Random::new(1, 2).next_u64(), Random::new(1, 3).next_u64());
        assert_ne!(Random::new(1, 2).next_u64(), Random::new(2, 2).next_u64());
        assert_ne!(mix_bytes(1, b"a"), mix_bytes(1, b"a\0"));
    }
}
