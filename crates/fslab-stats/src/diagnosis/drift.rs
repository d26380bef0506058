//! Drift: values that rise or fall in the order of measurement.

use statrs::distribution::{ContinuousCDF, Normal};

use super::MATTERS;
use crate::logs::logarithms;
use crate::quantile;

/// Most values, without ties, for which every order is counted.
const COUNTED_MOST: usize = 60;

/// The smallest sample that is tested; with fewer values no order is improbable enough.
const SIZE_LEAST: usize = 5;

/// A rise or fall over a sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drift {
    /// Kendall's tau: 1 if every value is above the one before, -1 if each is below.
    pub tau: f64,
    /// The last value over the first, by the median slope.
    pub times: f64,
    /// The probability of a coefficient at least as far from 0 without a drift; 1 if the change is
    /// below 1 %.
    pub p_value: f64,
}

/// Tests the values of `sample`, in the order of measurement, for a drift: Mann's test of Kendall's
/// tau ("Nonparametric tests against trend", Econometrica 13, 1945), two-sided, exact up to 60
/// values without ties, else by the normal approximation with corrections for ties and continuity.
/// The change is the median slope of all pairs of logarithms (Theil, "A rank-invariant method of
/// linear and polynomial regression analysis", 1950; Sen, "Estimates of the regression coefficient
/// based on Kendall's tau", Journal of the American Statistical Association 63, 1968).
///
/// `None` below five values, or if a value is not positive.
pub fn drift(sample: &[f64]) -> Option<Drift> {
    let logs = logarithms(sample)?;
    let count = logs.len();
    if count < SIZE_LEAST {
        return None;
    }
    let (mut score, mut ties, mut slopes) = (0_i64, 0_i64, Vec::new());
    for (place, value) in logs.iter().enumerate() {
        for (later, other) in logs.iter().enumerate().skip(place + 1) {
            score += i64::from(other > value) - i64::from(other < value);
            ties += i64::from(other == value);
            slopes.push((other - value) / (later - place) as f64);
        }
    }
    let change = quantile(&slopes, 0.5)? * (count - 1) as f64;
    let p_value = if change.abs() < MATTERS {
        1.0
    } else if ties == 0 && count <= COUNTED_MOST {
        counted(count, score)
    } else {
        approximated(&logs, score)?
    };
    Some(Drift {
        tau: score as f64 / slopes.len() as f64,
        times: change.exp(),
        p_value,
    })
}

/// The share of all orders of `count` values whose score is at least as far from 0.
fn counted(count: usize, score: i64) -> f64 {
    // Shares of the orders by number of inversions: value number k adds 0 to k - 1 of them.
    let mut shares = vec![1.0_f64];
    for values in 2..=count {
        let mut more = vec![0.0; shares.len() + values - 1];
        for (inversions, share) in shares.iter().enumerate() {
            for added in 0..values {
                more[inversions + added] += share / values as f64;
            }
        }
        shares = more;
    }
    let pairs = (count * (count - 1) / 2) as i64;
    let reached = shares.iter().enumerate().filter(|(inversions, _)| {
        // There are fewer inversions than pairs, so the cast is exact.
        (pairs - 2 * *inversions as i64).abs() >= score.abs()
    });
    reached.map(|(_, share)| share).sum::<f64>().min(1.0)
}

fn approximated(logs: &[f64], score: i64) -> Option<f64> {
    let mut sorted = logs.to_vec();
    sorted.sort_by(f64::total_cmp);
    let term = |count: f64| count * (count - 1.0) * (2.0 * count + 5.0);
    let groups = sorted.chunk_by(|a, b| a == b);
    let tied: f64 = groups.map(|group| term(group.len() as f64)).sum();
    let variance = (term(logs.len() as f64) - tied) / 18.0;
    if variance <= 0.0 {
        return Some(1.0);
    }
    let distance = (score.abs() as f64 - 1.0).max(0.0);
    let normal = Normal::new(0.0, 1.0).ok()?;
    Some((2.0 * normal.sf(distance / variance.sqrt())).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_order_is_counted() {
        // Of the 120 orders of five values two are monotone, and 8 have one inversion or one less
        // than all.
        let rising = drift(&[1.0, 1.1, 1.2, 1.3, 1.4]).expect("five");
        assert!((rising.p_value - 2.0 / 120.0).abs() < 1e-12);
        assert!((rising.tau - 1.0).abs() < 1e-12);
        let swapped = drift(&[1.4, 1.3, 1.2, 1.0, 1.1]).expect("five");
        assert!((swapped.p_value - 10.0 / 120.0).abs() < 1e-12);
        assert!((swapped.tau + 0.8).abs() < 1e-12);
    }

    #[test]
    fn the_change_is_that_of_the_median_slope() {
        let sample: Vec<f64> = (0..11).map(|i| (0.02 * f64::from(i)).exp()).collect();
        let found = drift(&sample).expect("eleven");
        assert!((found.times.ln() - 0.2).abs() < 1e-9, "{found:?}");
        assert!(found.p_value < 1e-6);
    }

    #[test]
    fn a_change_that_does_not_matter_is_none() {
        let sample: Vec<f64> = (0..20).map(|i| 1.0 + 1e-5 * f64::from(i)).collect();
        assert_eq!(drift(&sample).expect("twenty").p_value, 1.0);
        assert_eq!(drift(&[2.0; 6]).expect("six").p_value, 1.0);
        assert_eq!(drift(&[1.0, 2.0, 3.0, 4.0]), None);
        assert_eq!(drift(&[1.0, 2.0, 3.0, 4.0, 0.0]), None);
    }

    #[test]
    fn the_approximation_meets_the_count() {
        let logs: Vec<f64> = (0..40).map(|i| f64::from(i * 7 % 41)).collect();
        for score in [0, 100, 200, 300] {
            let (exact, near) = (counted(40, score), approximated(&logs, score));
            let near = near.expect("values");
            assert!((exact - near).abs() < 0.01, "{score}: {exact} {near}");
        }
    }
}
