//! The spread of a sample.

use statrs::distribution::{ChiSquared, ContinuousCDF, FisherSnedecor};

use crate::estimate::{Estimate, Interval};
use crate::{CONFIDENCE, Summary};

/// The probabilities below the two ends of an interval.
const TAILS: (f64, f64) = (0.5 - CONFIDENCE / 2.0, 0.5 + CONFIDENCE / 2.0);

/// The standard deviation of `sample`, with n - 1 in the denominator, and its 95 % interval: `s
/// √((n - 1) / χ²)`, from the chi-squared distribution with n - 1 degrees of freedom (Snedecor and
/// Cochran, Statistical Methods, section 5.9). It assumes approximately normal values.
///
/// `None` below two values, or if all are equal: a deviation of zero has no interval; [`Summary`]
/// has it.
pub fn deviation(sample: &[f64]) -> Option<Estimate> {
    let sd = positive_deviation(sample)?;
    let freedom = sample.len() as f64 - 1.0;
    let chi_squared = ChiSquared::new(freedom).ok()?;
    let end = |tail: f64| sd * (freedom / chi_squared.inverse_cdf(tail)).sqrt();
    Some(Estimate {
        value: sd,
        interval: finite(end(TAILS.1), end(TAILS.0)),
    })
}

/// Standard deviation over mean, with its 95 % interval: McKay's approximation as improved by
/// Vangel ("Confidence intervals for a normal coefficient of variation", The American Statistician
/// 50, 1996), which holds for coefficients up to about a third.
///
/// `None` where [`deviation`] has none, or the mean is not positive.
pub fn relative_deviation(sample: &[f64]) -> Option<Estimate> {
    let sd = positive_deviation(sample)?;
    let mean = Summary::of(sample)?.mean;
    if mean <= 0.0 {
        return None;
    }
    let (n, k) = (sample.len() as f64, sd / mean);
    let chi_squared = ChiSquared::new(n - 1.0).ok()?;
    let end = |tail: f64| {
        let u = chi_squared.inverse_cdf(tail);
        let below = ((u + 2.0) / n - 1.0) * k * k + u / (n - 1.0);
        k / below.sqrt()
    };
    Some(Estimate {
        value: k,
        interval: finite(end(TAILS.1), end(TAILS.0)),
    })
}

/// The ratio of two standard deviations, `numerator` over `denominator`, with its 95 % interval
/// from the F distribution of the ratio of their squares (Snedecor and Cochran, Statistical
/// Methods, section 6.12). It assumes approximately normal values, and is sensitive to that.
///
/// `None` where [`deviation`] has none for one of them.
pub fn deviation_ratio(numerator: &[f64], denominator: &[f64]) -> Option<Estimate> {
    let (above, below) = (
        positive_deviation(numerator)?,
        positive_deviation(denominator)?,
    );
    let freedom = |sample: &[f64]| sample.len() as f64 - 1.0;
    let f = FisherSnedecor::new(freedom(numerator), freedom(denominator)).ok()?;
    let value = above / below;
    let end = |tail: f64| value / f.inverse_cdf(tail).sqrt();
    Some(Estimate {
        value,
        interval: finite(end(TAILS.1), end(TAILS.0)),
    })
}

fn positive_deviation(sample: &[f64]) -> Option<f64> {
    Summary::of(sample)?.sd.filter(|sd| *sd > 0.0)
}

fn finite(low: f64, high: f64) -> Option<Interval> {
    let usable = low.is_finite() && high.is_finite() && low <= high;
    usable.then_some(Interval { low, high })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLE: [f64; 8] = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0];

    fn near(found: f64, expected: f64) {
        let error = (found / expected - 1.0).abs();
        assert!(error < 1e-3, "{found} is not {expected}");
    }

    #[test]
    fn the_interval_of_a_deviation_is_that_of_the_printed_table() {
        // NIST/SEMATECH e-Handbook 1.3.6.7.4, 7 degrees of freedom: 1.690 and 16.013.
        let found = deviation(&SAMPLE).expect("eight values");
        let interval = found.interval.expect("eight values");
        near(found.value, 2.138_09);
        near(interval.low, 2.138_09 * (7.0_f64 / 16.013).sqrt());
        near(interval.high, 2.138_09 * (7.0_f64 / 1.690).sqrt());
    }

    #[test]
    fn the_ratio_of_deviations_has_the_interval_of_f() {
        // F(0.975; 7, 7) = 4.9949, and 1 / 4.9949 at the other end.
        let found = deviation_ratio(&SAMPLE.map(|v| v * 3.0), &SAMPLE).expect("eight values");
        let interval = found.interval.expect("eight values");
        near(found.value, 3.0);
        near(interval.low, 3.0 / 4.9949_f64.sqrt());
        near(interval.high, 3.0 * 4.9949_f64.sqrt());
        let back = deviation_ratio(&SAMPLE, &SAMPLE.map(|v| v * 3.0)).expect("eight values");
        near(back.inverse().value, 3.0);
    }

    #[test]
    fn a_coefficient_of_variation_has_an_interval_about_it() {
        let found = relative_deviation(&SAMPLE.map(|v| v + 100.0)).expect("eight values");
        let interval = found.interval.expect("eight values");
        near(found.value, 2.138_09 / 105.0);
        // For small coefficients it is that of the deviation.
        near(interval.low, found.value * (7.0_f64 / 16.013).sqrt());
        assert!(interval.contains(found.value));
        assert_eq!(relative_deviation(&[-1.0, -2.0]), None);
    }

    #[test]
    fn what_does_not_vary_has_no_estimate() {
        assert_eq!(deviation(&[3.0; 4]), None);
        assert_eq!(deviation(&[3.0]), None);
        assert_eq!(deviation_ratio(&SAMPLE, &[1.0; 3]), None);
    }
}
