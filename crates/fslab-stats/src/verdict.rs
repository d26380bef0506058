//! The verdict that an interval of a ratio of speeds permits.

use crate::{Estimate, Interval};

/// How the numerator of a ratio of speeds compares with its denominator.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// The interval is above 1; the difference may still be small.
    Faster,
    /// The interval is below 1.
    Slower,
    /// The interval contains 1 and lies within the tolerance: a difference, if any, does not
    /// matter.
    Same {
        /// The tolerance: 0.05 is "the same within 5 %".
        within: f64,
    },
    /// The interval contains 1 and exceeds the tolerance, or there is none.
    Undecided,
}

/// The verdict on a ratio of speeds from its 95 % interval.
///
/// `tolerance` is the relative difference that does not matter, such as 0.05; for [`Verdict::Same`]
/// the interval must lie within `1 / (1 + tolerance)` and `1 + tolerance` (the two one-sided tests
/// of Schuirmann, J. Pharmacokinet. Biopharm. 15, 1987, at the stricter level of the interval).
/// That an interval contains 1 is not enough.
#[must_use]
pub fn verdict(interval: Option<Interval>, tolerance: f64) -> Verdict {
    let Some(interval) = interval else {
        return Verdict::Undecided;
    };
    let limit = 1.0 + tolerance.max(0.0);
    if interval.low > 1.0 {
        Verdict::Faster
    } else if interval.high < 1.0 {
        Verdict::Slower
    } else if interval.low >= limit.recip() && interval.high <= limit {
        Verdict::Same {
            within: tolerance.max(0.0),
        }
    } else {
        Verdict::Undecided
    }
}

/// About how many repeats a side would decide a ratio of speeds that is undecided after `repeats`:
/// those at which its interval, which narrows with the root of their number, excludes 1 or lies
/// within the tolerance if the ratio stays as it is.
///
/// `None` without an interval, or if the ratio is at the limit of the tolerance.
#[must_use]
pub fn repeats_to_decide(ratio: Estimate, repeats: usize, tolerance: f64) -> Option<usize> {
    let interval = ratio.interval?;
    let away = ratio.value.ln().abs();
    let half = (interval.high / interval.low).ln() / 2.0;
    // Either 1 leaves the interval, or the interval comes to lie within the tolerance.
    let room = away.max(tolerance.max(0.0).ln_1p() - away);
    let factor = (half / room).powi(2);
    let needed = (factor * repeats as f64 - 1e-9).ceil();
    // Beyond that it is not worth a number.
    (needed.is_finite() && needed < 1e6).then(|| (needed as usize).max(repeats + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(low: f64, high: f64) -> Verdict {
        verdict(Some(Interval { low, high }), 0.05)
    }

    #[test]
    fn the_verdict_follows_from_both_ends_of_the_interval() {
        assert_eq!(of(1.12, 1.31), Verdict::Faster);
        assert_eq!(of(0.70, 0.99), Verdict::Slower);
        assert_eq!(of(0.97, 1.04), Verdict::Same { within: 0.05 });
        assert_eq!(of(0.90, 1.01), Verdict::Undecided);
        assert_eq!(of(0.99, 1.20), Verdict::Undecided);
    }

    #[test]
    fn a_ratio_is_decided_when_its_interval_has_narrowed_to_its_distance_from_one() {
        let undecided = |value: f64, half: f64| Estimate {
            value,
            interval: Some(Interval {
                low: value / half,
                high: value * half,
            }),
        };
        // A distance of ln 1.1, a half-width of ln 1.21: half as wide with four times as many.
        assert_eq!(repeats_to_decide(undecided(1.1, 1.21), 5, 0.05), Some(20));
        assert_eq!(
            repeats_to_decide(undecided(1.0 / 1.1, 1.21), 5, 0.05),
            Some(20)
        );
        // No distance at all: the interval must come to lie within 5 %.
        let squared = 1.05_f64 * 1.05;
        assert_eq!(
            repeats_to_decide(undecided(1.0, squared), 5, 0.05),
            Some(20)
        );
        let none = Estimate {
            value: 1.1,
            interval: None,
        };
        assert_eq!(repeats_to_decide(none, 1, 0.05), None);
    }

    #[test]
    fn without_an_interval_nothing_is_decided() {
        assert_eq!(verdict(None, 0.05), Verdict::Undecided);
    }

    #[test]
    fn an_interval_of_width_zero_at_one_is_the_same() {
        assert_eq!(of(1.0, 1.0), Verdict::Same { within: 0.05 });
        assert_eq!(of(1.01, 1.01), Verdict::Faster);
    }
}
