//! The ratio of two samples.

use crate::Estimate;
use crate::logs::{Logs, t_bound};

/// The ratio of the geometric means, `numerator` over `denominator`, with its 95 % interval.
///
/// The interval is Welch's on the logarithms, carried back: the two samples may differ in size and
/// in spread (Welch, "The generalization of 'Student's' problem when several different population
/// variances are involved", Biometrika 34, 1947), with degrees of freedom after Satterthwaite ("An
/// approximate distribution of estimates of variance components", Biometrics Bulletin 2, 1946):
///
/// ```text
///     ln r ± t(ν) · √(s₁²/n₁ + s₂²/n₂)
///     ν = (s₁²/n₁ + s₂²/n₂)² / ((s₁²/n₁)²/(n₁ - 1) + (s₂²/n₂)²/(n₂ - 1))
/// ```
///
/// It holds from two values a side on; three is where it begins to be useful. Where neither sample
/// has any spread, it has width zero.
///
/// `None` where a sample is empty or has a value that is not positive; the interval is `None` where
/// a sample has a single value.
#[must_use]
pub fn ratio(numerator: &[f64], denominator: &[f64]) -> Option<Estimate> {
    let (above, below) = (Logs::of(numerator)?, Logs::of(denominator)?);
    Estimate::from_logs(above.mean - below.mean, half_width(&above, &below))
}

fn half_width(above: &Logs, below: &Logs) -> Option<f64> {
    let (a, b) = (above.variance_of_mean()?, below.variance_of_mean()?);
    if a + b == 0.0 {
        return Some(0.0);
    }
    // Shares of the variance instead of variances: their squares neither vanish nor overflow.
    let share = a / (a + b);
    let freedom =
        1.0 / (share.powi(2) / (above.count - 1.0) + (1.0 - share).powi(2) / (below.count - 1.0));
    Some(t_bound(freedom)? * (a + b).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 2e-3, "{found} is not {expected}");
    }

    #[test]
    fn the_interval_is_welchs_of_a_worked_example() {
        // Two samples of a common textbook example of Welch's test, taken as logarithms: t = -2.455
        // at ν = 24.99, standard error 0.8824, and the printed t(25) = 2.0595.
        let a = [
            27.5, 21.0, 19.0, 23.6, 17.0, 17.9, 16.9, 20.1, 21.9, 22.6, 23.1, 19.6, 19.0, 21.7,
            21.4,
        ];
        let b = [
            27.1, 22.0, 20.8, 23.4, 23.4, 23.5, 25.8, 22.0, 24.8, 20.2, 21.9, 22.1, 22.9, 20.5,
            24.4,
        ];
        let estimate = ratio(&a.map(f64::exp), &b.map(f64::exp)).expect("positive");
        let interval = estimate.interval.expect("fifteen values a side");
        near(estimate.value.ln(), 20.82 - 22.986_667);
        near(interval.low.ln(), -3.984_3);
        near(interval.high.ln(), -0.349_0);
    }

    #[test]
    fn the_ratio_of_a_sample_to_its_multiple_is_the_factor() {
        let sample = [90.0, 100.0, 111.0];
        let estimate = ratio(&sample.map(|v| v * 2.0), &sample).expect("positive");
        near(estimate.value, 2.0);
        assert!(estimate.interval.is_some_and(|i| i.contains(2.0)));
        let back = ratio(&sample, &sample.map(|v| v * 2.0)).expect("positive");
        near(back.value, estimate.inverse().value);
    }

    #[test]
    fn a_spread_of_zero_is_no_special_case() {
        let both = ratio(&[3.0; 3], &[2.0; 5]).expect("positive");
        let interval = both.interval.expect("repeats on both sides");
        near(both.value, 1.5);
        assert_eq!(interval.low, interval.high);
        let one = ratio(&[3.0; 3], &[2.0, 2.1, 2.2]).expect("positive");
        assert!(one.interval.is_some_and(|i| i.low < i.high));
    }

    #[test]
    fn a_single_value_on_one_side_has_no_interval() {
        let estimate = ratio(&[4.0], &[2.0, 2.1]).expect("positive");
        assert_eq!(estimate.interval, None);
    }

    #[test]
    fn nothing_and_zero_have_no_ratio() {
        assert_eq!(ratio(&[], &[1.0]), None);
        assert_eq!(ratio(&[1.0, 0.0], &[1.0, 2.0]), None);
        assert_eq!(ratio(&[1.0], &[-1.0]), None);
    }

    #[test]
    fn tiny_and_huge_values_are_taken_as_they_are() {
        let estimate = ratio(&[1e300, 2e300], &[1e-300, 2e-300]);
        assert_eq!(estimate, None, "1e600 is not a number here");
        let estimate = ratio(&[1e150, 1.1e150], &[1e-150, 1.1e-150]).expect("in range");
        assert!((estimate.value / 1e300 - 1.0).abs() < 1e-9);
    }
}
