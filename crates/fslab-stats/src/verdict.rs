//! The verdict that an interval of a ratio of speeds permits.

use crate::Interval;

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
    fn without_an_interval_nothing_is_decided() {
        assert_eq!(verdict(None, 0.05), Verdict::Undecided);
    }

    #[test]
    fn an_interval_of_width_zero_at_one_is_the_same() {
        assert_eq!(of(1.0, 1.0), Verdict::Same { within: 0.05 });
        assert_eq!(of(1.01, 1.01), Verdict::Faster);
    }
}
