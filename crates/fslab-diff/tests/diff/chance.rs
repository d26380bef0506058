//! Seeded chance, so that each test has one outcome.

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// Seeded chance.
pub(crate) struct Chance(SplitMix64);

impl Chance {
    /// The chance of that seed, by which each test has one outcome.
    pub(crate) fn of(seed: u64) -> Self {
        Self(SplitMix64::seed_from_u64(seed))
    }

    fn uniform(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    /// Box and Muller, Annals of Mathematical Statistics 29, 1958.
    pub(crate) fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// `count` rates about `centre` with a relative spread of `sigma`.
    pub(crate) fn rates(&mut self, count: usize, centre: f64, sigma: f64) -> Vec<f64> {
        let each = (0..count).map(|_| centre * (sigma * self.normal()).exp());
        each.collect()
    }

    /// As [`Chance::rates`], but each third value comes from a slower mode.
    pub(crate) fn rates_of_two_modes(&mut self, count: usize, centre: f64) -> Vec<f64> {
        let mut rate = |_| {
            let mode = if self.uniform() < 0.3 { 0.7 } else { 1.0 };
            centre * mode * (0.02 * self.normal()).exp()
        };
        (0..count).map(&mut rate).collect()
    }
}
