//! Samples from known distributions.

use fslab_stats::SplitMixRandom;

/// A seeded source of samples.
pub(crate) struct Chance(SplitMixRandom);

impl Chance {
    /// The source for a seed, so that each test has one outcome.
    pub(crate) fn of(seed: u64) -> Self {
        Self(SplitMixRandom::split_mix(seed))
    }

    pub(crate) fn uniform(&mut self) -> f64 {
        self.0.open_unit()
    }

    pub(crate) fn normal(&mut self) -> f64 {
        self.0.normal()
    }

    fn exponential(&mut self) -> f64 {
        -self.uniform().ln()
    }

    /// Student's t with three degrees of freedom.
    fn t3(&mut self) -> f64 {
        let squares: f64 = (0..3).map(|_| self.normal().powi(2)).sum();
        self.normal() / (squares / 3.0).sqrt()
    }
}

/// Distributions, before a factor for the location.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    /// The logarithm is normal with this deviation.
    LogNormal(f64),
    /// Normal with a coefficient of variation of 5 %.
    Normal,
    /// Normal with 3 %, and an exponential tail with a mean of 10 % added.
    Skewed,
    /// 3 % of noise about two places 20 % apart; the upper one has this share.
    Bimodal(f64),
    /// The logarithm has heavy tails: 5 % times t with three degrees of freedom.
    HeavyTails,
    /// Exponential: down to nearly 0.
    Exponential,
    /// The logarithm is exponential with a mean of 10 %: a tail above, and an edge below.
    Pareto,
    /// The logarithm is uniform over 20 %.
    Even,
    /// Normal with 5 %, rounded to steps of 5 %.
    Coarse,
    /// Normal with 2 %, rounded to steps of 5 %: most values are equal.
    VeryCoarse,
}

impl Kind {
    pub(crate) fn value(self, chance: &mut Chance) -> f64 {
        let rounded = |value: f64| (value / 0.05).round() * 0.05;
        match self {
            Self::LogNormal(sigma) => (sigma * chance.normal()).exp(),
            Self::Normal => 1.0 + 0.05 * chance.normal(),
            Self::Skewed => 1.0 + 0.03 * chance.normal() + 0.1 * chance.exponential(),
            Self::Bimodal(share) => {
                let up = if chance.uniform() < share { 0.2 } else { 0.0 };
                (0.03 * chance.normal() + up).exp()
            }
            Self::HeavyTails => (0.05 * chance.t3()).exp(),
            Self::Exponential => chance.exponential(),
            Self::Pareto => (0.1 * chance.exponential()).exp(),
            Self::Even => (0.2 * chance.uniform()).exp(),
            Self::Coarse => rounded(1.0 + 0.05 * chance.normal()),
            Self::VeryCoarse => rounded(1.013 + 0.02 * chance.normal()),
        }
    }

    pub(crate) fn sample(self, chance: &mut Chance, count: usize) -> Vec<f64> {
        (0..count).map(|_| self.value(chance)).collect()
    }

    /// The true mean of the logarithms, from two million values where it has no formula.
    pub(crate) fn mean_log(self) -> f64 {
        match self {
            Self::LogNormal(_) | Self::HeavyTails => 0.0,
            Self::Bimodal(share) => 0.2 * share,
            _ => {
                let (mut chance, count) = (Chance::of(99), 2_000_000);
                let logs = (0..count).map(|_| self.value(&mut chance).ln());
                logs.sum::<f64>() / f64::from(count)
            }
        }
    }
}
