//! The ratio of two samples at extreme confidence levels, for large families of comparisons.
//!
//! Intervals of a family of a thousand need quantiles beyond any number of replicates, so they are
//! Welch's at every size. Satterthwaite's degrees of freedom are themselves an estimate, and far
//! out they alarm too often where few repeats have very different spreads: at a level of 2.5 % over
//! 20, three repeats with spreads of 1 to 5 alarm 1.8 times as often as they should, and three
//! against ten with equal spreads 3 times. The smallest possible degrees, one less than the smaller
//! sample has values, never alarm too often but have little power. Their geometric mean is used:
//! 0.5 and 0.3 times as often in these cases, about right with five repeats or more, and at worst
//! 1.5 times, with three repeats and spreads of 1 to 20. At a level of 2.5 % over 250 the worst are
//! 2.2 times, with four repeats and such spreads, and 1.5 times with five (simulated, 400,000
//! experiments each).

use crate::Estimate;
use crate::ratio::Contrast;

/// [`crate::ratio_at`] for confidences near 1: Welch's interval with conservative degrees of
/// freedom. `None` as there.
pub fn tail_ratio_at(numerator: &[f64], denominator: &[f64], confidence: f64) -> Option<Estimate> {
    contrast(numerator, denominator)?.estimate(confidence)
}

/// [`crate::ratio_p_below`] for the distribution of [`tail_ratio_at`], with which it agrees.
///
/// `None` where that has no interval, or the limit is not positive.
pub fn tail_p_below(numerator: &[f64], denominator: &[f64], limit: f64) -> Option<f64> {
    if !(limit.is_finite() && limit > 0.0) {
        return None;
    }
    contrast(numerator, denominator)?.p_below(limit.ln())
}

fn contrast(numerator: &[f64], denominator: &[f64]) -> Option<Contrast> {
    let least = numerator.len().min(denominator.len()).saturating_sub(1) as f64;
    let contrast = Contrast::by_welch(numerator, denominator)?;
    Some(contrast.with_freedom(|freedom| (freedom * least).sqrt()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_p_value_is_under_a_level_exactly_where_the_interval_ends_before_the_limit() {
        let below: Vec<f64> = (0..12).map(|i| 80.0 + f64::from(i)).collect();
        let above: Vec<f64> = (0..12).map(|i| 90.0 + f64::from(i % 5)).collect();
        for level in [0.4, 0.1, 0.025, 1e-3, 1e-5, 1e-8] {
            let interval = tail_ratio_at(&below, &above, 1.0 - 2.0 * level)
                .and_then(|estimate| estimate.interval)
                .expect("an interval at every level");
            for limit in [interval.high * 0.9999, interval.high * 1.0001] {
                let p = tail_p_below(&below, &above, limit).expect("a p-value");
                assert_eq!(p < level, interval.high < limit, "{level} {limit} {p}");
            }
        }
        assert_eq!(tail_p_below(&below, &above, 0.0), None);
        assert_eq!(tail_p_below(&[1.0], &above, 1.0), None);
    }

    #[test]
    fn it_is_wider_than_welchs_and_narrower_than_with_the_least_freedom() {
        // Equal spreads of five values: 8 degrees, 4 at least, so the root of 32; t = 2.4829
        // between 2.3060 and 2.7764.
        let (a, b) = ([1.0, 1.1, 1.2, 1.3, 1.4], [2.0, 2.2, 2.4, 2.6, 2.8]);
        let width = |estimate: Estimate| {
            let interval = estimate.interval.expect("five values");
            (interval.high / interval.low).ln()
        };
        let welch = width(crate::ratio(&a, &b).expect("positive"));
        let tail = width(tail_ratio_at(&a, &b, 0.95).expect("positive"));
        assert!(
            (tail / welch - 2.482_9 / 2.306_0).abs() < 1e-3,
            "{}",
            tail / welch
        );
    }
}
