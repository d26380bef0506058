//! The ratio of two samples.

use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::logs::{Logs, logarithms, t_bound_at};
use crate::resample::{REPLICATES, distances};
use crate::{CONFIDENCE, Estimate, Interval};

/// Fewest values a side for which the interval is bootstrapped. In simulations with fewer, it gains
/// half a percent of coverage for long tails, and covers too much for two modes; docs/statistics.md
/// has the figures.
const BOOTSTRAP_LEAST: usize = 10;

/// Most values a side for the bootstrap; above, means are normal enough.
const BOOTSTRAP_MOST: usize = 200;

/// Logarithms that differ by less are equal but for rounding.
const ROUNDING: f64 = 1e-12;

/// How the interval of a ratio is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntervalMethod {
    /// Welch's t on the logarithms.
    Welch,
    /// The symmetric studentised bootstrap on the logarithms.
    Bootstrap,
}

impl IntervalMethod {
    /// The method's name for reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Welch => "Welch's t on the logarithms",
            Self::Bootstrap => "studentised bootstrap on the logarithms",
        }
    }
}

/// The method for samples of these sizes; `None` without an interval, if one has fewer than two
/// values. It depends on the sizes alone, never on the values.
pub fn interval_method(numerator: usize, denominator: usize) -> Option<IntervalMethod> {
    let (least, most) = (numerator.min(denominator), numerator.max(denominator));
    match least {
        0 | 1 => None,
        _ if least >= BOOTSTRAP_LEAST && most <= BOOTSTRAP_MOST => Some(IntervalMethod::Bootstrap),
        _ => Some(IntervalMethod::Welch),
    }
}

/// The ratio of the geometric means, `numerator` over `denominator`, with its 95 % interval:
/// [`ratio_at`] of [`CONFIDENCE`].
pub fn ratio(numerator: &[f64], denominator: &[f64]) -> Option<Estimate> {
    ratio_at(numerator, denominator, CONFIDENCE)
}

/// The ratio of the geometric means, `numerator` over `denominator`, with its interval of
/// `confidence`, such as 0.95. Each value is that of one trial: only trials are independent.
///
/// Below ten values a side the interval is Welch's on the logarithms, transformed back; the samples
/// may differ in size and in spread (Welch, "The generalization of 'Student's' problem when several
/// different population variances are involved", Biometrika 34, 1947), with degrees of freedom
/// after Satterthwaite ("An approximate distribution of estimates of variance components",
/// Biometrics Bulletin 2, 1946):
///
/// ```text
///     ln r ± t(ν) · √(s₁²/n₁ + s₂²/n₂)
///     ν = (s₁²/n₁ + s₂²/n₂)² / ((s₁²/n₁)²/(n₁ - 1) + (s₂²/n₂)²/(n₂ - 1))
/// ```
///
/// From ten on, `t(ν)` is replaced by the quantile of `|ln r* - ln r| / se*` over 2002 bootstrap
/// replicates, in which each sample is resampled separately: the symmetric studentised bootstrap
/// (Hall, "On symmetric bootstrap confidence intervals", Journal of the Royal Statistical Society B
/// 50, 1988; Efron and Tibshirani, An Introduction to the Bootstrap, 1993, section 12.5), which
/// follows the skewness and tails of the samples. A percentile interval is not used: with three to
/// ten values its coverage is only 80 to 92 %.
///
/// It needs two values a side and is useful from three. Where neither sample varies, it has width
/// zero.
///
/// `None` if a sample is empty or has a value that is not positive; the interval is `None` if a
/// sample has a single value, or if `confidence` is too high for 2002 replicates.
pub fn ratio_at(numerator: &[f64], denominator: &[f64], confidence: f64) -> Option<Estimate> {
    Contrast::of(numerator, denominator)?.estimate(confidence)
}

/// The one-sided p-value of "the true ratio is `limit` or more": small if the ratio is below it.
///
/// It comes from the distribution of the interval, so both agree: it is below `a / 2` exactly if
/// the upper end of the interval of confidence `1 - a` is below the limit. For the opposite
/// question, exchange the samples and take 1 / limit.
///
/// `None` where [`ratio_at`] has no interval, or the limit is not positive.
pub fn ratio_p_below(numerator: &[f64], denominator: &[f64], limit: f64) -> Option<f64> {
    if !(limit.is_finite() && limit > 0.0) {
        return None;
    }
    Contrast::of(numerator, denominator)?.p_below(limit.ln())
}

/// The difference of two means of logarithms, with its error distribution.
pub(crate) struct Contrast {
    /// The difference.
    pub(crate) centre: f64,
    /// The ratio where neither sample varies, computed by division, so that a ratio equal to a
    /// limit is not beyond it by the rounding of logarithms.
    constant: Option<f64>,
    /// `None` if a sample has a single value.
    spread: Option<Spread>,
}

enum Spread {
    /// Neither sample varies.
    Zero,
    Student {
        error: f64,
        freedom: f64,
    },
    Bootstrap {
        error: f64,
        /// Studentised distances of the replicates.
        distances: Vec<f64>,
    },
}

impl Contrast {
    fn of(numerator: &[f64], denominator: &[f64]) -> Option<Self> {
        let method = interval_method(numerator.len(), denominator.len());
        Self::by(numerator, denominator, method)
    }

    /// By Welch's method for any number of values.
    pub(crate) fn by_welch(numerator: &[f64], denominator: &[f64]) -> Option<Self> {
        let method = interval_method(numerator.len(), denominator.len());
        Self::by(
            numerator,
            denominator,
            method.map(|_| IntervalMethod::Welch),
        )
    }

    fn by(numerator: &[f64], denominator: &[f64], method: Option<IntervalMethod>) -> Option<Self> {
        let (above, below) = (Logs::of(numerator)?, Logs::of(denominator)?);
        let welch = welch(&above, &below);
        let spread = match (welch, method) {
            (Some(Spread::Student { error, .. }), Some(IntervalMethod::Bootstrap)) => {
                let (above, below) = (logarithms(numerator)?, logarithms(denominator)?);
                distances(&above, &below).map(|distances| Spread::Bootstrap { error, distances })
            }
            (welch, _) => welch,
        };
        Some(Self {
            centre: above.mean - below.mean,
            constant: constant_ratio(numerator, denominator),
            spread,
        })
    }

    /// Of two samples whose means of logarithms differ by `centre`, with its standard error and
    /// degrees of freedom, if known.
    pub(crate) fn with_error(
        (numerator, denominator): (&[f64], &[f64]),
        centre: f64,
        error: Option<(f64, f64)>,
    ) -> Self {
        let spread = error.map(|(error, freedom)| match error == 0.0 {
            true => Spread::Zero,
            false => Spread::Student { error, freedom },
        });
        Self {
            centre,
            constant: constant_ratio(numerator, denominator),
            spread,
        }
    }

    /// Replaces the degrees of freedom by `freedom` of Satterthwaite's; only Welch's method has
    /// them.
    pub(crate) fn with_freedom(mut self, freedom: impl FnOnce(f64) -> f64) -> Self {
        if let Some(Spread::Student { freedom: own, .. }) = &mut self.spread {
            *own = freedom(*own);
        }
        self
    }

    /// The ratio with its interval of `confidence`.
    pub(crate) fn estimate(&self, confidence: f64) -> Option<Estimate> {
        let half_width = self.half_width(confidence);
        match self.constant.filter(|value| value.is_normal()) {
            Some(value) => Some(Estimate {
                value,
                interval: half_width.map(|_| Interval {
                    low: value,
                    high: value,
                }),
            }),
            None => Estimate::from_logs(self.centre, half_width),
        }
    }

    pub(crate) fn half_width(&self, confidence: f64) -> Option<f64> {
        let level = (confidence > 0.0 && confidence < 1.0).then_some(1.0 - confidence)?;
        match self.spread.as_ref()? {
            Spread::Zero => Some(0.0),
            Spread::Student { error, freedom } => Some(t_bound_at(*freedom, confidence)? * error),
            Spread::Bootstrap { error, distances } => {
                // `p_below` is under the level if fewer replicates than this reach the distance.
                let reach = (level * (REPLICATES + 1) as f64).ceil() as usize;
                let place = distances.len().checked_sub(reach.checked_sub(1)?)?;
                let mut distances = distances.clone();
                let (_, distance, _) = (place < distances.len())
                    .then(|| distances.select_nth_unstable_by(place, f64::total_cmp))?;
                Some(*distance * error)
            }
        }
    }

    /// The one-sided p-value of a difference of `limit` or more.
    pub(crate) fn p_below(&self, limit: f64) -> Option<f64> {
        let distance = self.centre - limit;
        match self.spread.as_ref()? {
            Spread::Zero => Some(if distance < -ROUNDING { 0.0 } else { 1.0 }),
            Spread::Student { error, freedom } => {
                let t = StudentsT::new(0.0, 1.0, *freedom).ok()?;
                Some(t.cdf(distance / error))
            }
            Spread::Bootstrap { error, distances } => {
                let as_far = |other: &&f64| **other >= distance.abs() / error;
                let reached = distances.iter().filter(as_far).count() + 1;
                let reached = reached as f64 / (REPLICATES + 1) as f64;
                Some(if distance < 0.0 {
                    reached / 2.0
                } else {
                    1.0 - reached / 2.0
                })
            }
        }
    }

    /// The two-sided p-value of no difference.
    pub(crate) fn p_equal(&self) -> Option<f64> {
        if matches!(self.spread, Some(Spread::Zero)) {
            return Some(if self.centre.abs() <= ROUNDING {
                1.0
            } else {
                0.0
            });
        }
        let below = self.p_below(0.0)?;
        Some((2.0 * below.min(1.0 - below)).min(1.0))
    }
}

/// The ratio of two samples neither of which varies.
fn constant_ratio(numerator: &[f64], denominator: &[f64]) -> Option<f64> {
    let constant = |values: &[f64]| {
        let first = *values.first()?;
        values.iter().all(|value| *value == first).then_some(first)
    };
    Some(constant(numerator)? / constant(denominator)?)
}

fn welch(above: &Logs, below: &Logs) -> Option<Spread> {
    let (a, b) = (above.variance_of_mean()?, below.variance_of_mean()?);
    if a + b == 0.0 {
        return Some(Spread::Zero);
    }
    // Shares of the variance, whose squares neither vanish nor overflow.
    let share = a / (a + b);
    let freedom =
        1.0 / (share.powi(2) / (above.count - 1.0) + (1.0 - share).powi(2) / (below.count - 1.0));
    Some(Spread::Student {
        error: (a + b).sqrt(),
        freedom,
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Two samples of a common textbook example of Welch's test, to be taken as logarithms:
    /// t = -2.455 at ν = 24.99, standard error 0.8824, and the printed t(25) = 2.0595.
    pub(crate) const WELCH: ([f64; 15], [f64; 15]) = (
        [
            27.5, 21.0, 19.0, 23.6, 17.0, 17.9, 16.9, 20.1, 21.9, 22.6, 23.1, 19.6, 19.0, 21.7,
            21.4,
        ],
        [
            27.1, 22.0, 20.8, 23.4, 23.4, 23.5, 25.8, 22.0, 24.8, 20.2, 21.9, 22.1, 22.9, 20.5,
            24.4,
        ],
    );

    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 2e-3, "{found} is not {expected}");
    }

    #[test]
    fn the_interval_is_welchs_of_a_worked_example() {
        let (a, b) = WELCH;
        let (a, b) = (a.map(f64::exp), b.map(f64::exp));
        let contrast = Contrast::by_welch(&a, &b).expect("positive");
        let half_width = contrast.half_width(0.95).expect("fifteen values a side");
        near(contrast.centre, 20.82 - 22.986_667);
        near(contrast.centre - half_width, -3.984_3);
        near(contrast.centre + half_width, -0.349_0);
        // With fifteen values a side the interval is bootstrapped, and similar.
        let estimate = ratio(&a, &b).expect("positive");
        let interval = estimate.interval.expect("fifteen values a side");
        assert!((interval.low.ln() + 3.984_3).abs() < 0.1, "{interval:?}");
        assert!((interval.high.ln() + 0.349_0).abs() < 0.1, "{interval:?}");
    }

    #[test]
    fn the_p_value_agrees_with_the_interval() {
        let noise = |count: u32, step: f64| -> Vec<f64> {
            let value = |i: u32| 100.0 + step * f64::from(i * 7 % count);
            (0..count).map(value).collect()
        };
        for (a, b) in [
            (noise(3, 2.0), noise(5, 3.0)),
            (noise(11, 2.0), noise(16, 1.5)),
        ] {
            for confidence in [0.9, 0.95, 0.98, 0.99] {
                let interval = ratio_at(&a, &b, confidence).and_then(|it| it.interval);
                let high = interval.expect("repeats").high;
                for (limit, below) in [(high * (1.0 + 1e-9), true), (high * (1.0 - 1e-9), false)] {
                    let p = ratio_p_below(&a, &b, limit).expect("repeats");
                    assert_eq!(p < (1.0 - confidence) / 2.0, below, "{confidence} {p}");
                }
            }
        }
        assert_eq!(ratio_p_below(&[1.0], &[1.0, 2.0], 1.05), None);
        assert_eq!(ratio_p_below(&[1.0, 2.0], &[1.0, 2.0], 0.0), None);
        assert_eq!(ratio_p_below(&[2.0; 3], &[2.0; 3], 1.05), Some(0.0));
        assert_eq!(ratio_p_below(&[2.0; 3], &[2.0; 3], 1.0), Some(1.0));
    }

    #[test]
    fn what_is_at_a_limit_without_any_spread_is_not_past_it() {
        // As logarithms 95 / 100 is 0.9499999999999995.
        for (a, b) in [(&[95.0; 5][..], &[100.0; 5][..]), (&[95.0; 3], &[100.0; 9])] {
            let interval = ratio(a, b).and_then(|it| it.interval).expect("repeats");
            assert_eq!((interval.low, interval.high), (0.95, 0.95));
            assert_eq!(ratio_p_below(a, b, 0.95), Some(1.0));
            assert_eq!(ratio_p_below(a, b, 0.951), Some(0.0));
        }
        let single = ratio(&[90.0], &[100.0]).expect("positive");
        assert_eq!((single.value, single.interval), (0.9, None));
    }

    #[test]
    fn one_over_a_ratio_has_the_inverse_interval_whatever_the_method() {
        let a: Vec<f64> = (0..12).map(|i| 90.0 + f64::from(i * i % 13)).collect();
        let b: Vec<f64> = (0..14).map(|i| 80.0 + f64::from(i * i % 17)).collect();
        let (there, back) = (ratio(&a, &b), ratio(&b, &a).map(Estimate::inverse));
        let ends = |estimate: Option<Estimate>| estimate.and_then(|it| it.interval);
        let (there, back) = (ends(there).expect("repeats"), ends(back).expect("repeats"));
        assert!((there.low / back.low - 1.0).abs() < 1e-12);
        assert!((there.high / back.high - 1.0).abs() < 1e-12);
    }

    #[test]
    fn the_method_depends_on_the_sizes_alone() {
        assert_eq!(interval_method(1, 30), None);
        assert_eq!(interval_method(9, 30), Some(IntervalMethod::Welch));
        assert_eq!(interval_method(30, 10), Some(IntervalMethod::Bootstrap));
        assert_eq!(interval_method(201, 10), Some(IntervalMethod::Welch));
        // 1 in 2003 is the smallest p-value of the replicates.
        let values: Vec<f64> = (1..12).map(f64::from).collect();
        let beyond = ratio_at(&values, &values, 0.9999).expect("positive");
        assert_eq!(beyond.interval, None);
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
