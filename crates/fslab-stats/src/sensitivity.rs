//! Prediction of one further run: how far it may lie from those made.

use crate::logs::{Logs, t_bound};

/// The fewest values for a useful interval: with two, the quantile of t is 12.7.
const VALUES_MIN: usize = 3;

/// The half-width of the 95 % prediction interval for one further value, as a share of the figure:
/// 0.06 means that 19 of 20 further runs lie within 6 %.
///
/// `exp(t(n - 1) · s · √(1 + 1/n)) - 1`, with s the standard deviation of the logarithms (Hahn and
/// Meeker, Statistical Intervals, 1991, section 4.7). It is the upper side, the wider one, and 0
/// where all values are equal. It is about a new value, not the mean, so it does not approach 0
/// with more values.
///
/// `None` for fewer than three values, or if one is not positive.
pub fn sensitivity(sample: &[f64]) -> Option<f64> {
    if sample.len() < VALUES_MIN {
        return None;
    }
    let logs = Logs::of(sample)?;
    let deviation = logs.variance?.sqrt();
    let half_width = t_bound(logs.count - 1.0)? * deviation * (1.0 + 1.0 / logs.count).sqrt();
    let share = half_width.exp_m1();
    share.is_finite().then_some(share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_prediction_interval_on_the_logarithms() {
        // Logarithms 1, 2, 3: s = 1, t(2) = 4.302653, times √(4/3): 4.968276.
        let sample = [1.0_f64, 2.0, 3.0].map(f64::exp);
        let found = sensitivity(&sample).expect("three values");
        assert!((found.ln_1p() - 4.968_276).abs() < 1e-5, "{found}");
        // Independent of the unit.
        let other = sensitivity(&sample.map(|value| value * 7.0)).expect("three values");
        assert!((found / other - 1.0).abs() < 1e-9);
    }

    #[test]
    fn few_values_have_none_and_equal_ones_zero() {
        assert_eq!(sensitivity(&[1.0, 2.0]), None);
        assert_eq!(sensitivity(&[1.0, 2.0, 0.0]), None);
        assert_eq!(sensitivity(&[0.1, 0.1, 0.1]), Some(0.0));
    }
}
