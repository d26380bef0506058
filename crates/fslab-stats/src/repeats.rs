//! How many repeats would decide between two samples.

use crate::CONFIDENCE;
use crate::logs::{Logs, t_bound_at};

/// The probability that the number of repeats is enough, if difference and spread are as measured.
const POWER: f64 = 0.8;

/// More repeats than this are not searched for.
pub const REPEATS_MOST: usize = 10_000;

/// The number of repeats of each of two samples with which their comparison, one of `family`, is
/// decided in four of five cases: as a difference, or as none beyond `tolerance`, whichever takes
/// fewer. It supposes that the ratio and the spread of the logarithms are as in the samples.
///
/// The number n is the smallest, beyond those made, with one of
///
/// ```text
///     (t(ν, 1 - a/2) + t(ν, 0.8)) · √((s₁² + s₂²) / n) <= d                       a difference
///     (t(ν, 1 - a/2) + t(ν, 0.9)) · √((s₁² + s₂²) / n) <= ln(1 + tolerance) - d   none
/// ```
///
/// where d is the difference of the means of the logarithms, a is 5 % divided by `family`, and ν is
/// Satterthwaite's (the usual sample size for a difference of means: Cohen, Statistical Power
/// Analysis for the Behavioral Sciences, 1988, chapter 2; for equivalence: Schuirmann, "A
/// comparison of the two one-sided tests procedure", Journal of Pharmacokinetics and
/// Biopharmaceutics 15, 1987: both ends of the interval must be within, hence 0.9).
///
/// `None` if a sample has fewer than two values or one that is not positive, if neither varies, or
/// if it takes more than [`REPEATS_MOST`].
pub fn repeats_to_decide(
    first: &[f64],
    second: &[f64],
    tolerance: f64,
    family: usize,
) -> Option<usize> {
    let (one, other) = (Logs::of(first)?, Logs::of(second)?);
    let (one_variance, other_variance) = (one.variance?, other.variance?);
    let variance = one_variance + other_variance;
    if variance <= 0.0 {
        return None;
    }
    let freedom = variance.powi(2) / (one_variance.powi(2) + other_variance.powi(2));
    let difference = (one.mean - other.mean).abs();
    let to_limit = (1.0 + tolerance).ln() - difference;
    let confidence = 1.0 - (1.0 - CONFIDENCE) / family.max(1) as f64;
    let is_enough = |count: usize| {
        let freedom = (count - 1) as f64 * freedom;
        let error = (variance / count as f64).sqrt();
        let reaches = |power: f64, margin: f64| {
            // A two-sided interval of 60 % has its upper end at the quantile of 80 %.
            let likely = t_bound_at(freedom, 2.0 * power - 1.0);
            let certain = t_bound_at(freedom, confidence);
            let bounds = certain.zip(likely);
            bounds.is_some_and(|(certain, likely)| (certain + likely) * error <= margin)
        };
        reaches(POWER, difference) || reaches(f64::midpoint(POWER, 1.0), to_limit)
    };
    let mut low = first.len().max(second.len());
    let mut high = low + 1;
    while !is_enough(high) {
        if high >= REPEATS_MOST {
            return None;
        }
        low = high;
        high = (high * 2).min(REPEATS_MOST);
    }
    while low + 1 < high {
        let middle = low.midpoint(high);
        match is_enough(middle) {
            true => high = middle,
            false => low = middle,
        }
    }
    Some(high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SplitMixRandom, Verdict, ratio, verdict};

    /// A sample whose logarithms have mean `mean` and a spread of about `spread`.
    fn sample(random: &mut SplitMixRandom, count: usize, mean: f64, spread: f64) -> Vec<f64> {
        let mut normal = || {
            // Box and Muller.
            let radius = (-2.0 * random.open_unit().ln()).sqrt();
            radius * (std::f64::consts::TAU * random.open_unit()).cos()
        };
        (0..count)
            .map(|_| (mean + spread * normal()).exp())
            .collect()
    }

    /// Two values with exactly that spread.
    fn pair(mean: f64, spread: f64) -> Vec<f64> {
        let half = spread / 2.0_f64.sqrt();
        vec![(mean - half).exp(), (mean + half).exp()]
    }

    #[test]
    fn the_number_decides_in_about_four_of_five_experiments() {
        for (ratio_of, spread) in [(1.10, 0.08), (1.0, 0.04)] {
            let mean = f64::ln(ratio_of);
            let needed = repeats_to_decide(&pair(mean, spread), &pair(0.0, spread), 0.05, 1);
            let needed = needed.expect("a number");
            let mut random = SplitMixRandom::split_mix(9);
            let mut decided = 0;
            for _ in 0..400 {
                let first = sample(&mut random, needed, mean, spread);
                let second = sample(&mut random, needed, 0.0, spread);
                let interval = ratio(&first, &second).and_then(|it| it.interval);
                let found = verdict(interval, 0.05);
                decided += usize::from(found != Verdict::Undecided);
            }
            assert!(
                (280..=372).contains(&decided),
                "{ratio_of}: {decided} of 400 with {needed}"
            );
        }
    }

    #[test]
    fn a_smaller_difference_a_wider_spread_and_a_larger_family_take_more() {
        let needed = |ratio_of: f64, spread: f64, family: usize| {
            let samples = (pair(ratio_of.ln(), spread), pair(0.0, spread));
            repeats_to_decide(&samples.0, &samples.1, 0.05, family).expect("a number")
        };
        let base = needed(1.2, 0.1, 1);
        assert!((4..=8).contains(&base), "{base}");
        assert!(needed(1.1, 0.1, 1) > base);
        assert!(needed(1.2, 0.3, 1) > base);
        assert!(needed(1.2, 0.1, 10) > base);
    }

    #[test]
    fn what_has_no_spread_or_takes_too_many_has_no_number() {
        assert_eq!(repeats_to_decide(&[1.0], &[1.0, 2.0], 0.05, 1), None);
        assert_eq!(repeats_to_decide(&[1.0; 3], &[1.0; 3], 0.05, 1), None);
        assert_eq!(repeats_to_decide(&[1.0, 0.0], &[1.0, 2.0], 0.05, 1), None);
        let wild = [1.0, 1e6];
        assert_eq!(repeats_to_decide(&wild, &wild, 0.05, 1), None);
    }
}
