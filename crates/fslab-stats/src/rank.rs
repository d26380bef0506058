//! Spearman's rank correlation: whether two orders agree.

use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::Interval;
use crate::logs::normal_bound;

/// Most pairs for which every permutation is tried (8! = 40,320).
const EXACT_MAX: usize = 8;

/// Figures that differ by less are equal but for rounding.
const ROUNDING: f64 = 1e-9;

/// The agreement of two orders of the same items.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RankCorrelation {
    /// Spearman's coefficient: 1 is the same order, -1 the reverse.
    pub rho: f64,
    /// Number of items.
    pub n: usize,
    /// The share of random orders whose coefficient is at least as far from 0; `None` below three
    /// items.
    pub p_value: Option<f64>,
    /// The 95 % interval of the coefficient; `None` below four items, and for a coefficient of 1 or
    /// -1.
    pub interval: Option<Interval>,
}

/// Spearman's rank correlation: Pearson's coefficient of the ranks, with mean ranks for ties
/// (Spearman, "The proof and measurement of association between two things", American Journal of
/// Psychology 15, 1904).
///
/// The p-value is two-sided: exact up to eight pairs, by all permutations, with their ties; for
/// more, from Student's t with n - 2 degrees of freedom, `t = ρ √((n - 2) / (1 - ρ²))` (Kendall and
/// Stuart, The Advanced Theory of Statistics, volume 2, section 31.19).
///
/// The interval is Fisher's on the inverse hyperbolic tangent, with the variance `(1 + ρ²/2) / (n -
/// 3)` of Bonett and Wright ("Sample size requirements for estimating Pearson, Kendall and Spearman
/// correlations", Psychometrika 65, 2000).
///
/// `None` if the samples differ in length or have fewer than two values, a value is NaN, or all
/// values of a sample are equal. Infinite values have their rank.
pub fn rank_correlation(a: &[f64], b: &[f64]) -> Option<RankCorrelation> {
    if a.len() != b.len() || a.len() < 2 || a.iter().chain(b).any(|value| value.is_nan()) {
        return None;
    }
    let (a, b) = (centred(&ranks(a)), centred(&ranks(b)));
    let length = (product(&a, &a) * product(&b, &b)).sqrt();
    if length == 0.0 {
        return None;
    }
    let rho = (product(&a, &b) / length).clamp(-1.0, 1.0);
    Some(RankCorrelation {
        rho,
        n: a.len(),
        p_value: p_value(&a, &b, rho),
        interval: interval(rho, a.len()),
    })
}

/// The rank of each value from 1 on; ties have their mean rank.
pub(crate) fn ranks(values: &[f64]) -> Vec<f64> {
    let rank = |value: &f64| {
        let below = values.iter().filter(|other| *other < value).count() as f64;
        let equal = values.iter().filter(|other| *other == value).count() as f64;
        below + (equal + 1.0) / 2.0
    };
    values.iter().map(rank).collect()
}

/// The values minus their mean; exact for ranks, which are multiples of a quarter then.
fn centred(values: &[f64]) -> Vec<f64> {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    values.iter().map(|value| value - mean).collect()
}

fn product(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn p_value(a: &[f64], b: &[f64], rho: f64) -> Option<f64> {
    match a.len() {
        0..3 => None,
        3..=EXACT_MAX => Some(exact_p_value(a, b)),
        n => {
            let freedom = n as f64 - 2.0;
            let t = rho.abs() * (freedom / (1.0 - rho * rho)).sqrt();
            let distribution = StudentsT::new(0.0, 1.0, freedom).ok()?;
            Some(if t.is_finite() {
                2.0 * distribution.sf(t)
            } else {
                0.0
            })
        }
    }
}

fn exact_p_value(a: &[f64], b: &[f64]) -> f64 {
    let found = product(a, b).abs();
    let (mut as_far, mut all) = (0_u32, 0_u32);
    each_permutation(&mut b.to_vec(), 0, &mut |b| {
        all += 1;
        as_far += u32::from(product(a, b).abs() >= found - ROUNDING);
    });
    f64::from(as_far) / f64::from(all)
}

fn each_permutation(values: &mut Vec<f64>, from: usize, visit: &mut impl FnMut(&[f64])) {
    if from + 1 >= values.len() {
        visit(values);
        return;
    }
    for index in from..values.len() {
        values.swap(from, index);
        each_permutation(values, from + 1, visit);
        values.swap(from, index);
    }
}

fn interval(rho: f64, n: usize) -> Option<Interval> {
    if n < 4 || rho.abs() > 1.0 - ROUNDING {
        return None;
    }
    let deviation = ((1.0 + rho * rho / 2.0) / (n as f64 - 3.0)).sqrt();
    let half = normal_bound() * deviation;
    Some(Interval {
        low: (rho.atanh() - half).tanh(),
        high: (rho.atanh() + half).tanh(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 5e-4, "{found} is not {expected}");
    }

    #[test]
    fn the_coefficient_is_that_of_a_worked_example() {
        // IQ against hours of television a week, the common example: rho = -29/165, t = -0.5048,
        // p = 0.627188 at 8 degrees of freedom.
        let iq = [106., 100., 86., 101., 99., 103., 97., 113., 112., 110.];
        let hours = [7., 27., 2., 50., 28., 29., 20., 12., 6., 17.];
        let found = rank_correlation(&iq, &hours).expect("ten pairs");
        near(found.rho, -29.0 / 165.0);
        near(found.p_value.expect("ten pairs"), 0.627_188);
        let interval = found.interval.expect("ten pairs");
        assert!(interval.contains(found.rho) && interval.contains(0.0));
    }

    #[test]
    fn few_pairs_have_the_exact_share_of_all_orders() {
        // Of the 24 orders of four things, two are monotone.
        let same = rank_correlation(&[1., 2., 3., 4.], &[10., 20., 30., 400.]).expect("four");
        near(same.rho, 1.0);
        near(same.p_value.expect("four"), 2.0 / 24.0);
        assert_eq!(same.interval, None);
        // A swap of neighbours: rho 0.8. At least as far: 2 with |1|, 6 with |0.8|.
        let swapped = rank_correlation(&[1., 2., 3., 4.], &[1., 3., 2., 4.]).expect("four");
        near(swapped.rho, 0.8);
        near(swapped.p_value.expect("four"), 8.0 / 24.0);
    }

    #[test]
    fn ties_share_their_rank_and_the_infinite_has_one() {
        assert_eq!(ranks(&[5.0, 1.0, 5.0, f64::INFINITY]), [2.5, 1.0, 2.5, 4.0]);
        let found = rank_correlation(&[1., 2., 2., 3.], &[1., 2., 3., 4.]).expect("four");
        near(found.rho, 4.5 / (4.5_f64 * 5.0).sqrt());
    }

    #[test]
    fn what_has_no_order_has_no_correlation() {
        assert_eq!(rank_correlation(&[1.0, 2.0], &[1.0]), None);
        assert_eq!(rank_correlation(&[1.0], &[1.0]), None);
        assert_eq!(rank_correlation(&[1.0, 1.0], &[1.0, 2.0]), None);
        assert_eq!(rank_correlation(&[1.0, f64::NAN], &[1.0, 2.0]), None);
        let two = rank_correlation(&[1.0, 2.0], &[2.0, 1.0]).expect("two");
        assert_eq!((two.p_value, two.interval), (None, None));
        near(two.rho, -1.0);
    }
}
