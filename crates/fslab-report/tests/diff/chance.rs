//! A seeded source of values, so that each test has one outcome.

use fslab_stats::SplitMixRandom;

/// A seeded source of values.
pub(crate) struct Chance(SplitMixRandom);

impl Chance {
    /// The source for a seed.
    pub(crate) fn of(seed: u64) -> Self {
        Self(SplitMixRandom::split_mix(seed))
    }

    /// `count` rates about `centre` with a relative spread of `sigma`.
    pub(crate) fn rates(&mut self, count: usize, centre: f64, sigma: f64) -> Vec<f64> {
        let each = (0..count).map(|_| centre * (sigma * self.0.normal()).exp());
        each.collect()
    }

    /// As [`Chance::rates`], with a third of the values from a slower mode.
    pub(crate) fn rates_of_two_modes(&mut self, count: usize, centre: f64) -> Vec<f64> {
        let mut rate = |_| {
            let mode = if self.0.open_unit() < 0.3 { 0.7 } else { 1.0 };
            centre * mode * (0.02 * self.0.normal()).exp()
        };
        (0..count).map(&mut rate).collect()
    }
}
