//! The location of one sample.

use crate::logs::{Logs, t_bound};
use crate::{Estimate, Summary};

/// The one figure of several repeats: their geometric mean, or the median if a value is not
/// positive; `None` without values.
pub fn centre(sample: &[f64]) -> Option<f64> {
    let summary = Summary::of(sample)?;
    if summary.min == summary.max {
        return Some(summary.min);
    }
    Some(location(sample).map_or(summary.median, |mean| mean.value))
}

/// The geometric mean of `sample` with its 95 % interval, in the sample's unit.
///
/// The interval is Student's, `mean ± t(n - 1) · s / √n`, on the logarithms and transformed back
/// (Student, "The probable error of a mean", Biometrika 6, 1908; on logarithms: Limpert, Stahel and
/// Abbt, "Log-normal distributions across the sciences", BioScience 51, 2001). It assumes
/// approximately normal logarithms. A spread of zero gives an interval of width zero.
///
/// `None` for an empty sample, or one with a value that is not positive; the interval is `None` for
/// a single value.
pub fn location(sample: &[f64]) -> Option<Estimate> {
    let logs = Logs::of(sample)?;
    let half_width = logs
        .variance_of_mean()
        .zip(t_bound(logs.count - 1.0))
        .map(|(variance, t)| t * variance.sqrt());
    Estimate::from_logs(logs.mean, half_width)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_students_on_the_logarithms() {
        // Logarithms 1, 2, 3: mean 2, s = 1, t(2) = 4.302653, half width t / √3 = 2.484138.
        let sample = [1.0_f64, 2.0, 3.0].map(f64::exp);
        let estimate = location(&sample).expect("positive");
        let interval = estimate.interval.expect("three values");
        assert!((estimate.value.ln() - 2.0).abs() < 1e-12);
        assert!((interval.low.ln() - (2.0 - 2.484_138)).abs() < 1e-5);
        assert!((interval.high.ln() - (2.0 + 2.484_138)).abs() < 1e-5);
    }

    #[test]
    fn the_one_figure_of_several_is_their_geometric_mean() {
        assert_eq!(centre(&[]), None);
        assert_eq!(centre(&[7.1, 7.1, 7.1]), Some(7.1));
        let mean = centre(&[1.0, 10.0, 100.0, 1000.0]).expect("a mean");
        assert!((mean - 10.0_f64.powf(1.5)).abs() < 1e-9, "{mean}");
        assert_eq!(centre(&[0.0, 3.0, 9.0]), Some(3.0));
    }

    #[test]
    fn equal_values_have_an_interval_of_width_zero() {
        let estimate = location(&[412.3, 412.3, 412.3]).expect("positive");
        let interval = estimate.interval.expect("three values");
        assert_eq!(interval.low, interval.high);
        assert!((estimate.value - 412.3).abs() < 1e-9);
    }

    #[test]
    fn one_value_has_a_location_and_no_interval() {
        let estimate = location(&[5.0]).expect("positive");
        assert!((estimate.value - 5.0).abs() < 1e-12);
        assert_eq!(estimate.interval, None);
    }

    #[test]
    fn what_has_no_logarithm_has_no_location() {
        for sample in [&[][..], &[0.0], &[1.0, -1.0], &[f64::NAN], &[f64::INFINITY]] {
            assert_eq!(location(sample), None, "{sample:?}");
        }
    }
}
