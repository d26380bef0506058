//! Descriptive statistics of a sample.

use crate::logs::mean_and_variance;
use crate::quantile;

/// A sample in a few figures, in the sample's unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// Number of values, at least 1.
    pub n: usize,
    /// The median, type 7.
    pub median: f64,
    /// The arithmetic mean.
    pub mean: f64,
    /// The standard deviation, with n - 1 in the denominator; `None` for a single value.
    pub sd: Option<f64>,
    /// The smallest value.
    pub min: f64,
    /// The largest value.
    pub max: f64,
}

impl Summary {
    /// `None` for an empty sample, or one with a value that is not finite.
    pub fn of(sample: &[f64]) -> Option<Self> {
        let median = quantile(sample, 0.5)?;
        let (mean, variance) = mean_and_variance(sample)?;
        Some(Self {
            n: sample.len(),
            median,
            mean,
            sd: variance.map(f64::sqrt),
            min: quantile(sample, 0.0)?,
            max: quantile(sample, 1.0)?,
        })
    }

    /// Standard deviation over mean; `None` for a single value or a mean of zero.
    pub fn coefficient_of_variation(&self) -> Option<f64> {
        self.sd
            .filter(|_| self.mean != 0.0)
            .map(|sd| sd / self.mean.abs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_and_deviation_are_those_of_a_textbook_sample() {
        let summary = Summary::of(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]).expect("a sample");
        assert_eq!(
            (summary.n, summary.mean, summary.median),
            (8, 5.0, 4.5),
            "the usual example"
        );
        // Sum of squares 32 over 7.
        assert!((summary.sd.expect("eight values") - 2.138_09).abs() < 1e-5);
        assert_eq!((summary.min, summary.max), (2.0, 9.0));
    }

    #[test]
    fn one_value_has_no_deviation_and_none_has_nothing() {
        let one = Summary::of(&[3.0]).expect("one value");
        assert_eq!((one.sd, one.median), (None, 3.0));
        assert_eq!(one.coefficient_of_variation(), None);
        assert_eq!(Summary::of(&[]), None);
        assert_eq!(Summary::of(&[1.0, f64::INFINITY]), None);
    }

    #[test]
    fn a_spread_of_zero_and_a_mean_of_zero_divide_nothing() {
        let same = Summary::of(&[0.1; 4]).expect("four values");
        assert_eq!(same.coefficient_of_variation(), Some(0.0));
        let zero = Summary::of(&[0.0; 4]).expect("four values");
        assert_eq!(zero.coefficient_of_variation(), None);
    }
}
