//! Seeded pseudo-random numbers, the same on every machine; the project's only source of them.
//! Figures depend on these streams, so an algorithm never changes.
//!
//! ```text
//!     Random           xoshiro256++      data, places, orders of a workload
//!     SplitMixRandom   SplitMix64        order of trials, resampling, samples of tests
//!     CounterRandom    mix(key, 1, 2..)  scripts of conformance, by the place in the stream
//! ```

use std::ops::Range;

use rand_xoshiro::rand_core::{Rng, SeedableRng};
use rand_xoshiro::{SplitMix64, Xoshiro256PlusPlus};

/// A stream of pseudo-random numbers, by default of xoshiro256++.
#[derive(Clone, Debug)]
pub struct Random<G = Xoshiro256PlusPlus>(G);

/// The generator SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
/// generators", OOPSLA 2014).
pub type SplitMixRandom = Random<SplitMix64>;

/// A generator that mixes a counter with a key.
pub type CounterRandom = Random<Counter>;

/// A generator of 64 bits at a time.
pub trait Generator {
    /// The next 64 bits.
    fn next_u64(&mut self) -> u64;
}

impl Generator for Xoshiro256PlusPlus {
    #[inline]
    fn next_u64(&mut self) -> u64 {
        Rng::next_u64(self)
    }
}

impl Generator for SplitMix64 {
    #[inline]
    fn next_u64(&mut self) -> u64 {
        Rng::next_u64(self)
    }
}

/// A counter that starts at 1, mixed with a key.
#[derive(Clone, Debug)]
pub struct Counter {
    key: u64,
    count: u64,
}

impl Generator for Counter {
    #[inline]
    fn next_u64(&mut self) -> u64 {
        self.count += 1;
        mix(self.key, self.count)
    }
}

impl Random {
    /// The stream of `seed` for one `purpose`, so that no two uses of a seed are correlated.
    pub fn new(seed: u64, purpose: u64) -> Self {
        Self::from_seed(mix(seed, purpose))
    }

    /// The stream of `seed`.
    pub fn from_seed(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }
}

impl SplitMixRandom {
    /// The stream of `seed`.
    pub fn split_mix(seed: u64) -> Self {
        Self(SplitMix64::seed_from_u64(seed))
    }

    /// A separate stream for each number, without overlap of neighbours.
    pub(crate) fn stream(number: u64) -> Self {
        Self::split_mix(number.wrapping_mul(0xd1b5_4a32_d192_ed03))
    }

    /// Two places below `limit`, by multiplication (Lemire, "Fast random integer generation in an
    /// interval", ACM TOMACS 29, 2019); the bias is under 1e-6 for limits up to some thousand.
    pub(crate) fn two_places(&mut self, limit: usize) -> [usize; 2] {
        let (drawn, limit) = (self.next_u64(), limit as u64);
        // Both halves are below 2^32, so no product overflows, and a place is below the limit.
        [drawn >> 32, drawn & 0xffff_ffff].map(|half| ((half * limit) >> 32) as usize)
    }

    /// A place below `limit`.
    pub(crate) fn place(&mut self, limit: usize) -> usize {
        self.two_places(limit)[0]
    }
}

impl CounterRandom {
    /// The stream of `seed` for one `purpose`.
    pub fn counter(seed: u64, purpose: u64) -> Self {
        let key = mix(seed, purpose);
        Self(Counter { key, count: 0 })
    }
}

impl<G: Generator> Random<G> {
    /// The next 64 bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number below `bound`, 0 if that is 0; its bias is below `bound` / 2^64.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        let product = u128::from(self.next_u64()) * u128::from(bound);
        (product >> 64) as u64
    }

    /// A number in `range`, which must not be empty.
    pub fn within(&mut self, range: Range<u64>) -> u64 {
        range.start + self.below(range.end - range.start)
    }

    /// True with probability 1/2.
    pub fn coin(&mut self) -> bool {
        self.next_u64() >> 63 == 0
    }

    /// A number in [0, 1), in steps of 2^-53.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A number in (0, 1).
    pub fn open_unit(&mut self) -> f64 {
        ((self.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    /// Standard normal: Box and Muller, Annals of Mathematical Statistics 29, 1958.
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.open_unit().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.open_unit()).cos()
    }

    /// A length from `min` to `max`, log-uniform.
    pub fn length(&mut self, min: u64, max: u64) -> u64 {
        let unit = self.unit();
        let (low, high) = ((min as f64).ln(), (max.max(min) as f64).ln());
        ((low + unit * (high - low)).exp() as u64).clamp(min, max.max(min))
    }

    /// Shuffles `items` (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = self.below(last as u64 + 1) as usize;
            items.swap(last, other);
        }
    }

    /// Fills `bytes`; their length must be a multiple of 8.
    pub fn fill(&mut self, bytes: &mut [u8]) {
        for word in bytes.chunks_exact_mut(8) {
            word.copy_from_slice(&self.next_u64().to_le_bytes());
        }
    }
}

/// Mixes two numbers into one by SplitMix64's finaliser.
#[inline]
pub const fn mix(a: u64, b: u64) -> u64 {
    let mut z = a ^ b
        .wrapping_add(0x9e37_79b9_7f4a_7c15)
        .wrapping_mul(0xff51_afd7_ed55_8ccd);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A hash of `text`, the same on every machine.
pub fn mix_bytes(seed: u64, text: &[u8]) -> u64 {
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
    fn numbers_below_a_bound_are_spread_evenly_and_streams_differ() {
        let mut random = Random::new(1, 2);
        let mut counts = [0_u32; 10];
        for _ in 0..100_000 {
            counts[random.below(10) as usize] += 1;
        }
        assert!(
            counts.iter().all(|count| (9_500..10_500).contains(count)),
            "{counts:?}"
        );
        let mut random = SplitMixRandom::stream(1);
        let mut counts = [0_u32; 7];
        for _ in 0..35_000 {
            for place in random.two_places(7) {
                counts[place] += 1;
            }
        }
        assert!(
            counts.iter().all(|count| (9_600..10_400).contains(count)),
            "{counts:?}"
        );
        let first = |stream| SplitMixRandom::stream(stream).place(1 << 30);
        assert_eq!(first(1), first(1));
        assert_ne!(first(1), first(2));
    }

    #[test]
    fn the_same_seed_and_purpose_give_the_same_stream_and_others_do_not() {
        assert_eq!(Random::new(1, 2).next_u64(), Random::new(1, 2).next_u64());
        assert_ne!(Random::new(1, 2).next_u64(), Random::new(1, 3).next_u64());
        assert_ne!(Random::new(1, 2).next_u64(), Random::new(2, 2).next_u64());
        assert_ne!(mix_bytes(1, b"a"), mix_bytes(1, b"a\0"));
    }

    /// Plans, data and figures of stored runs depend on these numbers.
    #[test]
    fn the_streams_are_those_of_every_release() {
        assert_eq!(Random::from_seed(0).next_u64(), 0x53175d61490b23df);
        assert_eq!(SplitMixRandom::split_mix(0).next_u64(), 0xe220a8397b1dcdaf);
        let mut counter = CounterRandom::counter(1, 2);
        assert_eq!(counter.next_u64(), mix(mix(1, 2), 1));
        assert_eq!(counter.next_u64(), mix(mix(1, 2), 2));
    }
}
