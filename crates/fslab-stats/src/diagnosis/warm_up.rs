//! Warm-up: a first value that differs from the others.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::MATTERS;
use super::resolution::spread_least;
use crate::logs::{logarithms, mean_and_variance};

/// The smallest sample that is tested: three values besides the first give a spread.
const SIZE_LEAST: usize = 4;

/// The first value compared with the others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WarmUp {
    /// Its multiple of the geometric mean of the others.
    pub times: f64,
    /// The probability of a first value at least as far from the others without a warm-up; 1 if it
    /// is less than 1 % away.
    pub p_value: f64,
}

/// Tests whether the first of the values, in the order of measurement, differs from the others: it
/// is predicted from their mean and standard deviation on logarithms by Student's t, `(x - mean) /
/// (s √(1 + 1/n))` with n - 1 degrees of freedom (Hahn and Meeker, Statistical Intervals, 1991,
/// section 4.8). Only the first value is tested, so no correction for choosing it is needed.
///
/// `None` below four values, or if a value is not positive.
pub fn warm_up(sample: &[f64]) -> Option<WarmUp> {
    let logs = logarithms(sample)?;
    let (first, others) = logs.split_first()?;
    if logs.len() < SIZE_LEAST {
        return None;
    }
    let (mean, variance) = mean_and_variance(others)?;
    let (away, count) = (first - mean, others.len() as f64);
    let error = variance?.sqrt().max(spread_least(&logs)) * (1.0 + 1.0 / count).sqrt();
    let student = StudentsT::new(0.0, 1.0, count - 1.0).ok()?;
    Some(WarmUp {
        times: away.exp(),
        p_value: if away.abs() < MATTERS {
            1.0
        } else {
            2.0 * student.sf(away.abs() / error)
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_first_value_is_found() {
        let found = warm_up(&[70.0, 100.0, 101.0, 99.0, 100.5, 99.5]).expect("six");
        assert!((found.times - 0.7).abs() < 0.01);
        assert!(found.p_value < 1e-4, "{}", found.p_value);
        let quiet = warm_up(&[100.0, 101.5, 98.5, 100.5, 99.5]).expect("five");
        assert!(quiet.p_value > 0.5);
    }

    #[test]
    fn the_p_value_is_that_of_the_prediction() {
        // Logarithms 1, 2, 3 and a first value of 2 + 4.302653 · 1 · √(4/3): p = 0.05 at t(2).
        let first = 2.0 + 4.302_653 * (4.0_f64 / 3.0).sqrt();
        let sample = [first, 1.0, 2.0, 3.0].map(f64::exp);
        let found = warm_up(&sample).expect("four");
        assert!((found.p_value - 0.05).abs() < 1e-5, "{}", found.p_value);
    }

    #[test]
    fn what_hardly_differs_or_is_too_little_is_no_warm_up() {
        let equal = warm_up(&[1.005, 1.0, 1.0, 1.0]).expect("four");
        assert_eq!(equal.p_value, 1.0);
        // One step from equal values is rounding; many steps are not.
        assert!(warm_up(&[1.1, 1.0, 1.0, 1.0]).expect("four").p_value > 0.05);
        let ticks = [1.1, 1.0, 1.0, 1.0, 1.001, 1.0, 1.0];
        assert!(warm_up(&ticks).expect("seven").p_value < 0.001);
        assert_eq!(warm_up(&[1.0, 2.0, 3.0]), None);
        assert_eq!(warm_up(&[]), None);
        assert_eq!(warm_up(&[1.0, 1.0, 0.0, 1.0]), None);
    }
}
