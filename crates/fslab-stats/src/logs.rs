//! Logarithms of a sample: throughputs, rates and times are closest to normal there.

use std::sync::OnceLock;

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

use crate::CONFIDENCE;

/// Mean and variance of a sample's logarithms.
pub(crate) struct Logs {
    /// Number of values, at least 1.
    pub(crate) count: f64,
    /// Mean of the logarithms.
    pub(crate) mean: f64,
    /// Unbiased variance of the logarithms; `None` for a single value.
    pub(crate) variance: Option<f64>,
}

impl Logs {
    /// `None` if the sample is empty or a value has no logarithm.
    pub(crate) fn of(sample: &[f64]) -> Option<Self> {
        let logs = logarithms(sample)?;
        let (mean, variance) = mean_and_variance(&logs)?;
        Some(Self {
            count: sample.len() as f64,
            mean,
            variance,
        })
    }

    /// Variance of the mean of the logarithms.
    pub(crate) fn variance_of_mean(&self) -> Option<f64> {
        self.variance.map(|variance| variance / self.count)
    }
}

/// The logarithms; `None` if a value has none.
pub(crate) fn logarithms(sample: &[f64]) -> Option<Vec<f64>> {
    sample
        .iter()
        .map(|value| (value.is_finite() && *value > 0.0).then(|| value.ln()))
        .collect()
}

/// Mean and unbiased variance, computed about the first value so that equal values have a variance
/// of exactly zero. `None` for an empty sample.
pub(crate) fn mean_and_variance(values: &[f64]) -> Option<(f64, Option<f64>)> {
    let (first, count) = (*values.first()?, values.len() as f64);
    let shift = values.iter().map(|value| value - first).sum::<f64>() / count;
    let mean = first + shift;
    let squares: f64 = values
        .iter()
        .map(|value| (value - first - shift).powi(2))
        .sum();
    Some((mean, (count > 1.0).then(|| squares / (count - 1.0))))
}

/// The quantile of Student's t for a two-sided interval of [`CONFIDENCE`].
///
/// `freedom` may be fractional (Satterthwaite); `None` below 1.
pub(crate) fn t_bound(freedom: f64) -> Option<f64> {
    /// Cache for integral degrees: each look at each figure needs one, and each takes a search.
    static KNOWN: [OnceLock<Option<f64>>; 64] = [const { OnceLock::new() }; 64];
    let is_whole = freedom >= 0.0 && freedom.fract() == 0.0;
    match KNOWN.get(freedom as usize).filter(|_| is_whole) {
        Some(known) => *known.get_or_init(|| t_bound_at(freedom, CONFIDENCE)),
        None => t_bound_at(freedom, CONFIDENCE),
    }
}

/// The same for an interval of `confidence`.
pub(crate) fn t_bound_at(freedom: f64, confidence: f64) -> Option<f64> {
    let t = StudentsT::new(0.0, 1.0, (freedom >= 1.0).then_some(freedom)?).ok()?;
    Some(t.inverse_cdf(0.5 + confidence / 2.0))
}

/// The quantile of the normal distribution for such an interval.
pub(crate) fn normal_bound() -> f64 {
    Normal::standard().inverse_cdf(0.5 + CONFIDENCE / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bounds_of_t_are_those_of_the_printed_tables() {
        // NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2, column 0.975.
        for (freedom, bound) in [
            (1.0, 12.706),
            (2.0, 4.303),
            (3.0, 3.182),
            (4.0, 2.776),
            (10.0, 2.228),
            (30.0, 2.042),
            (100.0, 1.984),
        ] {
            let found = t_bound(freedom).expect("from 1 on");
            assert!((found - bound).abs() < 6e-4, "{freedom}: {found}");
        }
        assert_eq!(t_bound(0.5), None);
    }

    #[test]
    fn equal_values_have_a_variance_of_exactly_zero() {
        assert_eq!(
            mean_and_variance(&[0.1, 0.1, 0.1]),
            Some((0.1, Some(0.0))),
            "0.1 has no exact binary form"
        );
        assert_eq!(mean_and_variance(&[7.0]), Some((7.0, None)));
        assert_eq!(mean_and_variance(&[]), None);
    }
}
