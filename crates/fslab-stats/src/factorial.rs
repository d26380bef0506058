//! What decides a figure: the variance of logarithms over a complete factorial plan, by factor and
//! interaction.

use crate::{CONFIDENCE, Interval, Random, quantile};

/// Draws of the intervals of [`variance_shares`].
const DRAWS: usize = 1_000;
/// Most factors: effects are the subsets of them.
pub const FACTORS_MAX: usize = 8;

/// A share of the variance.
#[derive(Clone, Debug, PartialEq)]
pub struct VarianceShare {
    /// The factors whose effect it is, by their places in the plan, in order: one for a main
    /// effect, more for an interaction. Empty for the repeats.
    pub factors: Vec<usize>,
    /// The share, from 0 to 1. All shares of a figure sum to 1.
    pub share: f64,
    /// Its 95 % interval; `None` without repeats.
    pub interval: Option<Interval>,
}

/// The shares of the variance of `cells` by factor, by interaction and by repeats, the largest
/// first; those that are 0 are left out.
///
/// `levels` has the number of levels of each factor, 2 or more, and `cells` a sample for each
/// combination, the last factor running fastest: logarithms, so that effects of factors multiply.
///
/// The effects are those of an analysis of variance with all interactions, and the figure of each
/// is its variance over the levels of the plan, not over a population of levels (the
/// finite-population variance of Gelman, "Analysis of variance: why it is more important than
/// ever", Annals of Statistics 33, 2005): the plan is complete and balanced, so that the variances
/// of effects sum to the variance of cells. From each, the part that the repeats alone would cause
/// is subtracted: its degrees of freedom times the variance of a cell's mean; below 0 it is 0. The
/// repeats have the mean variance within cells. Intervals are percentiles of a parametric
/// bootstrap: means and variances of cells are drawn anew, normal and chi-squared with the variance
/// pooled over cells.
///
/// `None` without factors, for more than [`FACTORS_MAX`], if a cell has no value or one that is not
/// finite, or if nothing varies.
pub fn variance_shares(levels: &[usize], cells: &[Vec<f64>]) -> Option<Vec<VarianceShare>> {
    let plan = Plan::of(levels, cells)?;
    let means: Vec<f64> = cells.iter().map(|it| mean(it)).collect();
    let freedom: usize = cells.iter().map(|cell| cell.len() - 1).sum();
    let within = cells.iter().map(|cell| squares(cell)).sum::<f64>() / freedom.max(1) as f64;
    let inverse_counts = cells.iter().map(|cell| 1.0 / cell.len() as f64);
    let of_mean = within * inverse_counts.sum::<f64>() / cells.len() as f64;
    let shares = plan.shares(&means, of_mean, within)?;
    let drawn = (freedom > 0).then(|| {
        let mut random = Random::from_seed(1);
        let draws = (0..DRAWS).filter_map(|_| {
            let noisy = means.iter().zip(cells).map(|(mean, cell)| {
                mean + normal(&mut random) * (within / cell.len() as f64).sqrt()
            });
            let noisy: Vec<f64> = noisy.collect();
            let drawn: f64 = (0..freedom).map(|_| normal(&mut random).powi(2)).sum();
            let drawn = within * drawn / freedom as f64;
            // The means have the noise of the repeats already, and that of the draw.
            plan.shares(
                &noisy,
                of_mean + drawn * of_mean / within.max(f64::MIN_POSITIVE),
                drawn,
            )
        });
        draws.collect::<Vec<_>>()
    });
    let effects = plan.subsets.iter().chain([&0]);
    let mut found: Vec<VarianceShare> = effects
        .zip(&shares)
        .enumerate()
        .map(|(place, (subset, share))| VarianceShare {
            factors: (0..levels.len())
                .filter(|it| subset & 1 << it != 0)
                .collect(),
            share: *share,
            interval: drawn
                .as_ref()
                .and_then(|draws| interval(draws, place, *share)),
        })
        .filter(|it| it.share > 0.0)
        .collect();
    found.sort_by(|a, b| b.share.total_cmp(&a.share));
    Some(found)
}

/// The percentiles of a share over draws, with the share itself inside.
fn interval(draws: &[Vec<f64>], place: usize, share: f64) -> Option<Interval> {
    let values: Vec<f64> = draws.iter().map(|draw| draw[place]).collect();
    let tail = (1.0 - CONFIDENCE) / 2.0;
    Some(Interval {
        low: quantile(&values, tail)?.min(share),
        high: quantile(&values, 1.0 - tail)?.max(share),
    })
}

/// A complete plan: its effects, as sets of factors.
struct Plan<'a> {
    levels: &'a [usize],
    /// Bit `n` for factor `n`; every subset but the empty one, smaller ones first.
    subsets: Vec<usize>,
    /// By subset and cell: the number of the combination of the subset's levels.
    groups: Vec<Vec<usize>>,
    cells: usize,
}

impl<'a> Plan<'a> {
    fn of(levels: &'a [usize], cells: &[Vec<f64>]) -> Option<Self> {
        let count = levels.iter().product::<usize>();
        let is_complete = !levels.is_empty()
            && levels.len() <= FACTORS_MAX
            && levels.iter().all(|levels| *levels > 1)
            && count == cells.len()
            && cells
                .iter()
                .all(|cell| !cell.is_empty() && cell.iter().all(|it| it.is_finite()));
        if !is_complete {
            return None;
        }
        let mut subsets: Vec<usize> = (1..1 << levels.len()).collect();
        subsets.sort_by_key(|subset| (subset.count_ones(), *subset));
        let group = |subset: usize, cell: usize| {
            let mut rest = cell;
            let mut number = 0;
            for (factor, levels) in levels.iter().enumerate().rev() {
                let level = rest % levels;
                rest /= levels;
                if subset & 1 << factor != 0 {
                    number = number * levels + level;
                }
            }
            number
        };
        let groups = subsets
            .iter()
            .map(|subset| (0..count).map(|it| group(*subset, it)).collect());
        Some(Self {
            levels,
            groups: groups.collect(),
            subsets,
            cells: count,
        })
    }

    /// The share of each subset, then of the repeats, whose variance is `within`; the mean of a
    /// cell has the variance `of_mean` from them. `None` if nothing varies.
    fn shares(&self, means: &[f64], of_mean: f64, within: f64) -> Option<Vec<f64>> {
        let grand = mean(means);
        let mut effects: Vec<Vec<f64>> = Vec::new();
        for (place, subset) in self.subsets.iter().enumerate() {
            let groups = &self.groups[place];
            let count = groups.iter().max().map_or(0, |last| last + 1);
            let mut sums = vec![(0.0, 0.0); count];
            for (cell, group) in groups.iter().enumerate() {
                sums[*group].0 += means[cell];
                sums[*group].1 += 1.0;
            }
            let lower = (0..place).filter(|lower| self.subsets[*lower] & !subset == 0);
            let lower: Vec<usize> = lower.collect();
            let effect = |cell: usize| {
                let (sum, count) = sums[groups[cell]];
                let below: f64 = lower.iter().map(|it| effects[*it][cell]).sum();
                sum / count - grand - below
            };
            let effect = (0..self.cells).map(effect).collect();
            effects.push(effect);
        }
        let variance = |(subset, effect): (&usize, &Vec<f64>)| {
            let factors = (0..self.levels.len()).filter(|it| subset & 1 << it != 0);
            let freedom: usize = factors.map(|it| self.levels[it] - 1).product();
            let of_repeats = of_mean * freedom as f64 / self.cells as f64;
            let all = effect.iter().map(|it| it * it).sum::<f64>() / self.cells as f64;
            (all - of_repeats).max(0.0)
        };
        let mut variances: Vec<f64> = self.subsets.iter().zip(&effects).map(variance).collect();
        variances.push(within);
        let sum: f64 = variances.iter().sum();
        let shares = || variances.iter().map(|it| it / sum).collect();
        (sum > 0.0 && sum.is_finite()).then(shares)
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The sum of squares around the mean.
fn squares(values: &[f64]) -> f64 {
    let mean = mean(values);
    values.iter().map(|value| (value - mean).powi(2)).sum()
}

/// A standard normal number (Box and Muller, 1958).
fn normal(random: &mut Random) -> f64 {
    let radius = (-2.0 * random.open_unit().ln()).sqrt();
    radius * (std::f64::consts::TAU * random.unit()).cos()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cells of 3 x 2 levels with planted effects.
    fn planted(interaction: f64, sigma: f64, repeats: usize, random: &mut Random) -> Vec<Vec<f64>> {
        let disk = [-1.0, 0.0, 1.0];
        let fs = [-0.5, 0.5];
        let sample = |(a, b): (f64, f64)| {
            let centre = a + b + interaction * a * b;
            (0..repeats)
                .map(|_| centre + sigma * normal(random))
                .collect()
        };
        let pairs = disk.iter().flat_map(|a| fs.iter().map(move |b| (*a, *b)));
        pairs.map(sample).collect()
    }

    fn share(found: &[VarianceShare], factors: &[usize]) -> f64 {
        let found = found.iter().find(|it| it.factors == factors);
        found.map_or(0.0, |it| it.share)
    }

    #[test]
    fn planted_effects_are_found_in_their_shares() {
        let mut random = Random::from_seed(1);
        let cells = planted(0.6, 0.0, 1, &mut random);
        let found = variance_shares(&[3, 2], &cells).expect("a plan");
        // Variances 2/3, 1/4 and 0.36 * 2/3 * 1/4.
        let (a, b, ab) = (2.0 / 3.0, 0.25, 0.06);
        let sum = a + b + ab;
        for (factors, wanted) in [(&[0][..], a), (&[1], b), (&[0, 1], ab)] {
            let got = share(&found, factors);
            assert!((got - wanted / sum).abs() < 1e-12, "{factors:?}: {got}");
        }
        assert_eq!(found[0].factors, [0]);
        assert!(found.iter().all(|it| it.interval.is_none()));
    }

    #[test]
    fn three_factors_sum_to_one_with_their_interactions() {
        // Two levels each; the last factor alone, and the first two together.
        let of = |cell: usize| {
            let (a, b, c) = (cell >> 2 & 1, cell >> 1 & 1, cell & 1);
            vec![3.0 * c as f64 + if a == b { 1.0 } else { 0.0 }]
        };
        let cells: Vec<Vec<f64>> = (0..8).map(of).collect();
        let found = variance_shares(&[2, 2, 2], &cells).expect("a plan");
        assert!((share(&found, &[2]) - 0.9).abs() < 1e-12, "{found:?}");
        assert!((share(&found, &[0, 1]) - 0.1).abs() < 1e-12, "{found:?}");
        assert_eq!(found.len(), 2);
    }

    /// Of the interval of each of the three effects.
    #[test]
    fn the_intervals_contain_the_planted_share_in_about_95_of_100_plans() {
        let sigma: f64 = 0.4;
        let variances = [2.0 / 3.0, 0.25, 0.06, sigma * sigma];
        let sum: f64 = variances.iter().sum();
        let wanted = [(&[0][..], 0), (&[1][..], 1), (&[][..], 3)];
        let mut random = Random::from_seed(7);
        let mut hits = [0_u32; 3];
        let plans = 400_u32;
        for _ in 0..plans {
            let cells = planted(0.6, sigma, 5, &mut random);
            let found = variance_shares(&[3, 2], &cells).expect("a plan");
            for (place, (factors, of)) in wanted.iter().enumerate() {
                let found = found.iter().find(|it| it.factors == *factors);
                let interval = found.and_then(|it| it.interval);
                hits[place] +=
                    u32::from(interval.is_some_and(|it| it.contains(variances[*of] / sum)));
            }
        }
        let share = hits.map(|hits| f64::from(hits) / f64::from(plans));
        assert!(
            share.iter().all(|it| (0.90..=0.99).contains(it)),
            "{share:?}"
        );
    }

    #[test]
    fn without_an_effect_its_share_is_near_0_and_unfit_plans_give_none() {
        let mut random = Random::from_seed(3);
        let cells: Vec<Vec<f64>> = (0..6)
            .map(|_| (0..20).map(|_| normal(&mut random)).collect())
            .collect();
        let found = variance_shares(&[3, 2], &cells).expect("a plan");
        assert!(share(&found, &[]) > 0.9, "{found:?}");
        assert_eq!(variance_shares(&[3, 2], &cells[..5]), None);
        assert_eq!(variance_shares(&[], &[]), None);
        assert_eq!(variance_shares(&[2], &[vec![1.0], vec![]]), None);
        assert_eq!(variance_shares(&[2], &[vec![1.0], vec![1.0]]), None);
    }
}
