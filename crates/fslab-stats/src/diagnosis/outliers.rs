//! Outliers: values far from all others.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::MATTERS;
use super::resolution::spread_least;
use crate::logs::{logarithms, mean_and_variance};
use crate::quantile;

/// The smallest sample that is tested.
const SIZE_LEAST: usize = 5;

/// The modified z-score above which a value is a candidate.
const CANDIDATE: f64 = 3.5;

/// A value far from the others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outlier {
    /// Its index in the sample.
    pub index: usize,
    /// Its multiple of the geometric mean of the others.
    pub times: f64,
}

/// The outliers of a sample.
#[derive(Clone, Debug, PartialEq)]
pub struct Outliers {
    /// The candidates; may be empty.
    pub found: Vec<Outlier>,
    /// The probability of such candidates in a sample without outliers; 1 if there is none.
    pub p_value: f64,
}

/// Outliers of a sample, on logarithms: candidates by a robust score, confirmed by a prediction
/// from the other values.
///
/// A candidate's modified z-score, `0.6745 (x - median) / MAD`, is above 3.5 (Iglewicz and Hoaglin,
/// How to Detect and Handle Outliers, 1993). The median absolute deviation is at least 0.1 % and at
/// least the rounding of a coarse clock, so that it is never zero. At most a third of the values
/// are candidates, and each is more than 1 % away.
///
/// The score alone would alarm in one of ten samples of ten values. So each candidate is predicted
/// from the mean and standard deviation of the others by Student's t, as Grubbs does for one
/// ("Procedures for detecting outlying observations in samples", Technometrics 11, 1969), and the
/// p-value of the nearest candidate is multiplied by the number of ways to choose as many values.
///
/// `None` below five values, or if a value is not positive.
pub fn outliers(sample: &[f64]) -> Option<Outliers> {
    let logs = logarithms(sample)?;
    if logs.len() < SIZE_LEAST {
        return None;
    }
    let median = quantile(&logs, 0.5)?;
    let away: Vec<f64> = logs.iter().map(|value| (value - median).abs()).collect();
    let least = spread_least(&logs);
    let mad = quantile(&away, 0.5)?.max(least);
    let is_candidate = |index: &usize| {
        let score = 0.6745 * away[*index] / mad;
        score > CANDIDATE && away[*index] > MATTERS
    };
    let mut candidates: Vec<usize> = (0..logs.len()).filter(is_candidate).collect();
    candidates.sort_by(|a, b| away[*b].total_cmp(&away[*a]));
    candidates.truncate(logs.len() / 3);
    candidates.sort_unstable();
    let others: Vec<f64> = (0..logs.len())
        .filter(|index| !candidates.contains(index))
        .map(|index| logs[index])
        .collect();
    let (mean, variance) = mean_and_variance(&others)?;
    let deviation = variance?.sqrt().max(least);
    let p_value = match candidates.as_slice() {
        [] => 1.0,
        some => {
            let nearest = some.iter().map(|index| (logs[*index] - mean).abs());
            let count = others.len() as f64;
            let t = nearest.fold(f64::INFINITY, f64::min) / deviation / (1.0 + 1.0 / count).sqrt();
            let student = StudentsT::new(0.0, 1.0, count - 1.0).ok()?;
            (2.0 * student.sf(t) * ways(some.len(), logs.len())).min(1.0)
        }
    };
    let outlier = |index: usize| Outlier {
        index,
        times: (logs[index] - mean).exp(),
    };
    Some(Outliers {
        found: candidates.into_iter().map(outlier).collect(),
        p_value,
    })
}

/// The number of ways to choose `taken` of `of`.
fn ways(taken: usize, of: usize) -> f64 {
    (0..taken).fold(1.0, |ways, i| ways * (of - i) as f64 / (i + 1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUIET: [f64; 10] = [
        100.0, 101.5, 99.0, 100.7, 98.4, 101.0, 99.6, 100.2, 98.9, 100.9,
    ];

    #[test]
    fn a_planted_outlier_is_found_with_its_place_and_size() {
        let mut sample = QUIET;
        sample[6] = 80.0;
        let found = outliers(&sample).expect("ten values");
        assert_eq!(found.found.len(), 1);
        assert_eq!(found.found[0].index, 6);
        assert!((found.found[0].times - 0.8).abs() < 0.01);
        assert!(found.p_value < 1e-6, "{}", found.p_value);
    }

    #[test]
    fn two_outliers_do_not_hide_each_other() {
        let mut sample = QUIET;
        (sample[0], sample[4]) = (140.0, 150.0);
        let found = outliers(&sample).expect("ten values");
        let places: Vec<usize> = found.found.iter().map(|it| it.index).collect();
        assert_eq!(places, [0, 4]);
        assert!(found.p_value < 1e-6, "{}", found.p_value);
    }

    #[test]
    fn a_quiet_sample_has_none_and_a_spread_of_zero_divides_nothing() {
        let quiet = outliers(&QUIET).expect("ten values");
        assert!(quiet.found.is_empty() && quiet.p_value == 1.0);
        assert!(outliers(&[5.0; 8]).expect("eight").found.is_empty());
        // One step from equal values is rounding; many steps are not.
        let mut ticks = [5.0; 8];
        ticks[3] = 5.5;
        assert_eq!(outliers(&ticks).expect("eight").p_value, 1.0);
        ticks[5] = 5.005;
        let found = outliers(&ticks).expect("eight");
        assert_eq!(found.found.len(), 1);
        assert!(found.p_value < 1e-6, "{}", found.p_value);
    }

    #[test]
    fn too_few_values_are_not_looked_at() {
        assert_eq!(outliers(&[1.0, 1.0, 1.0, 9.0]), None);
        assert_eq!(outliers(&[0.0; 9]), None);
    }
}
