//! The arithmetic mean, and a share, each with its interval.

use statrs::distribution::{Beta, ContinuousCDF};

use crate::logs::{mean_and_variance, t_bound};
use crate::{CONFIDENCE, Interval};

/// A figure of any sign with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mean {
    /// The point estimate.
    pub value: f64,
    /// The 95 % interval; `None` for a single value.
    pub interval: Option<Interval>,
}

/// The arithmetic mean of `sample` with Student's interval, `mean ± t(n - 1) · s / √n` (Student,
/// "The probable error of a mean", Biometrika 6, 1908), for originals that report means.
///
/// `None` for an empty sample, or one with a value that is not finite.
pub fn mean(sample: &[f64]) -> Option<Mean> {
    if !sample.iter().all(|value| value.is_finite()) {
        return None;
    }
    let (mean, variance) = mean_and_variance(sample)?;
    let count = sample.len() as f64;
    let half = variance
        .zip(t_bound(count - 1.0))
        .map(|(s, t)| t * (s / count).sqrt());
    Some(Mean {
        value: mean,
        interval: half.map(|half| Interval {
            low: mean - half,
            high: mean + half,
        }),
    })
}

/// `count` of `of` as a share, with the exact 95 % interval of Clopper and Pearson ("The use of
/// confidence or fiducial limits illustrated in the case of the binomial", Biometrika 26, 1934).
///
/// `None` if `of` is 0 or less than `count`.
pub fn share(count: usize, of: usize) -> Option<Mean> {
    if of == 0 || count > of {
        return None;
    }
    let (hits, misses) = (count as f64, (of - count) as f64);
    let tail = 0.5 - CONFIDENCE / 2.0;
    let quantile = |a: f64, b: f64, p: f64| Beta::new(a, b).ok().map(|beta| beta.inverse_cdf(p));
    let low = if count == 0 {
        0.0
    } else {
        quantile(hits, misses + 1.0, tail)?
    };
    let high = if count == of {
        1.0
    } else {
        quantile(hits + 1.0, misses, 1.0 - tail)?
    };
    Some(Mean {
        value: hits / of as f64,
        interval: Some(Interval { low, high }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-3, "{found} is not {expected}");
    }

    #[test]
    fn the_interval_of_a_mean_is_students() {
        // 1, 2, 3: s = 1, t(2) = 4.302653, half width 2.484138.
        let found = mean(&[1.0, 2.0, 3.0]).expect("three values");
        let interval = found.interval.expect("three values");
        near(found.value, 2.0);
        near(interval.low, 2.0 - 2.484_138);
        near(interval.high, 2.0 + 2.484_138);
        assert_eq!(mean(&[4.0]).expect("one").interval, None);
        assert_eq!(mean(&[]), None);
        assert_eq!(mean(&[f64::INFINITY, 1.0]), None);
    }

    #[test]
    fn a_share_has_the_exact_interval() {
        // 6 of 9, as printed in tables of Clopper and Pearson: 0.299 to 0.925.
        let found = share(6, 9).expect("nine");
        let interval = found.interval.expect("nine");
        near(found.value, 6.0 / 9.0);
        near(interval.low, 0.299);
        near(interval.high, 0.925);
        // All of n: the lower end is 0.025 ^ (1/n).
        let all = share(9, 9).expect("nine").interval.expect("nine");
        near(all.low, 0.025_f64.powf(1.0 / 9.0));
        assert_eq!(all.high, 1.0);
        assert_eq!(share(0, 9).expect("nine").interval.expect("nine").low, 0.0);
        assert_eq!(share(1, 0), None);
    }
}
