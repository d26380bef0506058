//! The chance that resampling draws on: seeded with a constant, so that the same samples give the
//! same figures on every machine and in every run.

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// Numbers by `SplitMix64` (Steele, Lea and Flood, "Fast splittable pseudorandom number
/// generators", OOPSLA 2014).
pub(crate) struct Chance(SplitMix64);

impl Chance {
    /// A stream of its own for each `stream`.
    pub(crate) fn stream(stream: u64) -> Self {
        let seed = stream.wrapping_mul(0xd1b5_4a32_d192_ed03);
        Self(SplitMix64::seed_from_u64(seed))
    }

    /// Two places below `limit`, by multiplication (Lemire, "Fast random integer generation in an
    /// interval", ACM TOMACS 29, 2019): below a limit of some thousand the bias is under 1e-6.
    pub(crate) fn two_below(&mut self, limit: usize) -> [usize; 2] {
        let (drawn, limit) = (self.0.next_u64(), limit as u64);
        // Both halves are below 2^32, so that no product overflows, and a place is below the limit.
        [drawn >> 32, drawn & 0xffff_ffff].map(|half| ((half * limit) >> 32) as usize)
    }

    /// A place below `limit`.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.two_below(limit)[0]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_is_drawn_about_as_often_and_streams_differ() {
        let mut chance = Chance::stream(1);
        let mut drawn = [0_u32; 7];
        for _ in 0..35_000 {
            for place in chance.two_below(7) {
                drawn[place] += 1;
            }
        }
        assert!(
            drawn.iter().all(|count| (9_600..10_400).contains(count)),
            "{drawn:?}"
        );
        let first = |stream| Chance::stream(stream).below(1 << 30);
        assert_eq!(first(1), first(1));
        assert_ne!(first(1), first(2));
    }
}
