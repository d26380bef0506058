//! The ratio of two samples whose values come in clusters; the values of a cluster share an error.
//!
//! Two runs are made at two times, and the machine may be in another state in each. Repeats within
//! a run do not show that difference; several runs do.

use crate::Estimate;
use crate::difference::{Test, TestMethod};
use crate::logs::{Logs, mean_and_variance};
use crate::ratio::Contrast;

/// The ratio of the geometric means, `numerator` over `denominator`, with its interval of
/// `confidence`; each side is given by its clusters, such as the trials of one run.
///
/// The means of the clusters are analysed (Donner and Klar, Design and Analysis of Cluster
/// Randomization Trials in Health Research, 2000, chapter 7), on the logarithms. The variance
/// between clusters is assumed equal on both sides, because the state of the machine does not
/// depend on what is measured; so one side may have a single cluster. The variance within clusters
/// is estimated per side:
///
/// ```text
///     ln r ± t(ν) · √max(s² c, Σ (b + w) / k)      c = Σ 1 / k
///     s² = Σ squares of the clusters' means about their side's / f      f = Σ (k - 1)
///     b  = s² - Σ (k - 1) · w / f, not below 0
/// ```
///
/// with `k` clusters in a side and `w` the mean over them of variance over number of values. If
/// each cluster of a side has one value, its `w` uses the other side's variance; if that has none
/// either, `w` is 0 and `s²` contains it. The degrees of freedom ν are Satterthwaite's for the sum
/// of `s²` and both `w`, at most `f`, because `b` may be 0 by chance.
///
/// The coverage is at least `confidence` for any spread between clusters. The interval is wider
/// than necessary with fewer than two runs on a side, or where runs hardly differ (simulated;
/// docs/statistics.md has the figures).
///
/// `None` if a side has no cluster, or a cluster is empty or has a value that is not positive; the
/// interval is `None` if both sides have a single cluster.
pub fn clustered_ratio_at(
    numerator: &[Vec<f64>],
    denominator: &[Vec<f64>],
    confidence: f64,
) -> Option<Estimate> {
    contrast(numerator, denominator)?.estimate(confidence)
}

/// The one-sided p-value of "the true ratio is `limit` or more"; it agrees with
/// [`clustered_ratio_at`] as [`crate::ratio_p_below`] does with [`crate::ratio_at`].
///
/// `None` where that has no interval, or the limit is not positive.
pub fn clustered_p_below(
    numerator: &[Vec<f64>],
    denominator: &[Vec<f64>],
    limit: f64,
) -> Option<f64> {
    if !(limit.is_finite() && limit > 0.0) {
        return None;
    }
    contrast(numerator, denominator)?.p_below(limit.ln())
}

/// Tests whether two clustered samples differ, by the distribution of [`clustered_ratio_at`].
///
/// `None` where that has no interval.
pub fn clustered_difference_test(a: &[Vec<f64>], b: &[Vec<f64>]) -> Option<Test> {
    Some(Test {
        p_value: contrast(a, b)?.p_equal()?,
        method: TestMethod::Clusters,
    })
}

fn contrast(numerator: &[Vec<f64>], denominator: &[Vec<f64>]) -> Option<Contrast> {
    let (above, below) = (Side::of(numerator)?, Side::of(denominator)?);
    let values = (numerator.concat(), denominator.concat());
    Some(Contrast::with_error(
        (&values.0, &values.1),
        above.mean - below.mean,
        error(&above, &below),
    ))
}

/// The standard error of the difference of two sides' means, and its degrees of freedom.
fn error(above: &Side, below: &Side) -> Option<(f64, f64)> {
    let sides = [
        (above, above.within.or(below.within)),
        (below, below.within.or(above.within)),
    ];
    let sum = |term: &dyn Fn(&Side, Variance) -> f64| -> f64 {
        let terms = sides.iter().map(|(side, within)| {
            let within = within.unwrap_or(Variance::NONE);
            term(side, within.times(side.values_inverse))
        });
        terms.sum()
    };
    let freedom = sum(&|side, _| side.freedom());
    if freedom == 0.0 {
        return None;
    }
    let inverse = sum(&|side, _| side.clusters.recip());
    let means = sum(&|side, _| side.squares) / freedom;
    let within = sum(&|side, within| side.freedom() * within.value) / freedom;
    let between = (means - within).max(0.0);
    let by_parts = sum(&|side, within| (between + within.value) / side.clusters);
    // The share of each part in the variance, squared, over its degrees of freedom.
    let of_means = (inverse * means).powi(2) / freedom;
    let of_within = |weight: &dyn Fn(&Side) -> f64| sum(&|side, within| within.part(weight(side)));
    let of_parts = match between > 0.0 {
        true => {
            let less = |side: &Side| inverse * side.freedom() / freedom;
            of_means + of_within(&|side| side.clusters.recip() - less(side))
        }
        false => of_within(&|side| side.clusters.recip()),
    };
    let satterthwaite = by_parts.powi(2) / of_parts;
    // Without any spread this is NaN, which `clamp` keeps; the error is 0 then.
    let freedom = satterthwaite.clamp(1.0, freedom);
    Some((by_parts.max(inverse * means).sqrt(), freedom))
}

/// An estimate of a variance.
#[derive(Clone, Copy)]
struct Variance {
    value: f64,
    freedom: f64,
}

impl Variance {
    /// For a variance that cannot be estimated.
    const NONE: Self = Self {
        value: 0.0,
        freedom: 1.0,
    };

    fn times(self, factor: f64) -> Self {
        Self {
            value: self.value * factor,
            ..self
        }
    }

    /// Its term in Satterthwaite's denominator, with the coefficient `weight`.
    fn part(self, weight: f64) -> f64 {
        (weight * self.value).powi(2) / self.freedom
    }
}

/// One side of a ratio, in logarithms.
struct Side {
    clusters: f64,
    /// Mean of the clusters' means: each run has the same weight, whatever its number of repeats.
    mean: f64,
    /// Sum of the squares of the clusters' means about it.
    squares: f64,
    /// Pooled variance within the clusters; `None` where each has one value.
    within: Option<Variance>,
    /// Mean over the clusters of 1 / number of values.
    values_inverse: f64,
}

impl Side {
    fn of(clusters: &[Vec<f64>]) -> Option<Self> {
        let each: Option<Vec<Logs>> = clusters.iter().map(|values| Logs::of(values)).collect();
        let each = each?;
        let means: Vec<f64> = each.iter().map(|logs| logs.mean).collect();
        let (mean, variance) = mean_and_variance(&means)?;
        let freedom: f64 = each.iter().map(|logs| logs.count - 1.0).sum();
        let squares = |logs: &Logs| logs.variance.unwrap_or(0.0) * (logs.count - 1.0);
        let squares_within: f64 = each.iter().map(squares).sum();
        let clusters = each.len() as f64;
        Some(Self {
            clusters,
            mean,
            squares: variance.unwrap_or(0.0) * (clusters - 1.0),
            within: (freedom > 0.0).then(|| Variance {
                value: squares_within / freedom,
                freedom,
            }),
            values_inverse: each.iter().map(|logs| logs.count.recip()).sum::<f64>() / clusters,
        })
    }

    fn freedom(&self) -> f64 {
        self.clusters - 1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::logs::t_bound;

    fn clusters(logs: &[&[f64]]) -> Vec<Vec<f64>> {
        let values = logs
            .iter()
            .map(|logs| logs.iter().map(|v| v.exp()).collect());
        values.collect()
    }

    fn ends(estimate: Option<Estimate>) -> (f64, f64) {
        let interval = estimate
            .and_then(|it| it.interval)
            .expect("several clusters");
        (interval.low.ln(), interval.high.ln())
    }

    #[test]
    fn clusters_of_one_value_are_students_t_with_a_pooled_variance() {
        // Means 2 and 5, squares 2 and 2: the pooled variance is 4 / 4 = 1, the error √(2 / 3).
        let a = clusters(&[&[1.0], &[2.0], &[3.0]]);
        let b = clusters(&[&[4.0], &[5.0], &[6.0]]);
        let (low, high) = ends(clustered_ratio_at(&a, &b, 0.95));
        let reach = 2.776_445 * (2.0_f64 / 3.0).sqrt();
        assert!((low + 3.0 + reach).abs() < 1e-5 && (high + 3.0 - reach).abs() < 1e-5);
    }

    #[test]
    fn one_cluster_is_compared_with_the_spread_between_the_others() {
        // Means 0, 2, 4 of clusters ±1, variance within 2, so w = 1: s² = 8 / 2, b = 3, c = 4 / 3.
        // Satterthwaite: (16 / 3)² / ((16 / 3)² / 2 + 1 / 3 + 1) = 64 / 35, less than f = 2.
        let base = clusters(&[&[-1.0, 1.0], &[1.0, 3.0], &[3.0, 5.0]]);
        let new = clusters(&[&[6.0, 8.0]]);
        let (low, high) = ends(clustered_ratio_at(&new, &base, 0.95));
        let reach = t_bound(64.0 / 35.0).expect("above 1") * (16.0_f64 / 3.0).sqrt();
        assert!(
            (high - 5.0 - reach).abs() < 1e-9 && (low - 5.0 + reach).abs() < 1e-9,
            "{low} {high} {reach}"
        );
        // A new run of one repeat has the full variance of a repeat, not half of it.
        let single = clusters(&[&[7.0]]);
        let (_, high) = ends(clustered_ratio_at(&single, &base, 0.95));
        let reach = t_bound(2.0).expect("2") * (4.0_f64 / 3.0 + 3.0 + 2.0).sqrt();
        assert!((high - 5.0 - reach).abs() < 1e-9, "{high}");
    }

    #[test]
    fn p_values_agree_with_the_interval() {
        let a = clusters(&[&[0.1, 0.2], &[0.3, 0.1], &[0.2, 0.5]]);
        let b = clusters(&[&[0.4, 0.5], &[0.6, 0.9]]);
        let (_, high) = ends(clustered_ratio_at(&a, &b, 0.9));
        for (limit, below) in [(high + 1e-9, true), (high - 1e-9, false)] {
            let p = clustered_p_below(&a, &b, limit.exp()).expect("clusters");
            assert_eq!(p < 0.05, below, "{p}");
        }
        let p = clustered_difference_test(&a, &b).expect("clusters").p_value;
        let (low, high) = ends(clustered_ratio_at(&a, &b, 1.0 - p));
        assert!(low.abs().min(high.abs()) < 1e-6, "{low} {high} {p}");
    }

    #[test]
    fn what_has_no_interval_or_no_logarithm_has_none() {
        let one = clusters(&[&[1.0, 2.0]]);
        let estimate = clustered_ratio_at(&one, &one, 0.95).expect("values");
        assert_eq!((estimate.value, estimate.interval), (1.0, None));
        assert_eq!(clustered_p_below(&one, &one, 1.0), None);
        assert_eq!(clustered_difference_test(&one, &one), None);
        assert_eq!(clustered_ratio_at(&[], &one, 0.95), None);
        assert_eq!(clustered_ratio_at(&[vec![]], &one, 0.95), None);
        assert_eq!(clustered_ratio_at(&[vec![0.0]], &one, 0.95), None);
        // Exact as a division, although logarithms are rounded.
        let clusters_of = |value: f64| vec![vec![value; 3]; 2];
        let constant = clustered_ratio_at(&clusters_of(95.0), &clusters_of(100.0), 0.95);
        let constant = constant.expect("values").interval;
        assert_eq!(constant.map(|it| (it.low, it.high)), Some((0.95, 0.95)));
    }
}
