//! Findings, and what several of them come to.

use fslab_stats::Interval;

use crate::evidence::MissingReason;
use crate::ratio::Ratio;
use crate::{Finding, Limits, Outcome, Quantity};

/// A single repeat of real time has no interval.
const NO_INTERVAL: &str = "a single repeat has no interval";

impl Limits {
    pub(crate) fn at_least(least: f64) -> Self {
        Self {
            at_least: Some(least),
            ..Self::default()
        }
    }

    pub(crate) fn at_most(most: f64) -> Self {
        Self {
            at_most: Some(most),
            ..Self::default()
        }
    }

    /// What they say of a number that lies in `interval`.
    pub(crate) fn decide(&self, interval: Option<Interval>) -> Outcome {
        let Some(Interval { low, high }) = interval else {
            return Outcome::Undecided;
        };
        if self.admit(low) && self.admit(high) {
            return Outcome::Holds;
        }
        if self.is_below(high) || self.is_above(low) {
            Outcome::Fails
        } else {
            Outcome::Undecided
        }
    }
}

impl Finding {
    /// A ratio, or why there is none.
    pub(crate) fn of_ratio(
        what: String,
        ratio: Result<Ratio, MissingReason>,
        limits: Limits,
    ) -> Self {
        match ratio {
            Err(gap) => Self::gap(what, gap, limits),
            Ok(ratio) => Self {
                what,
                outcome: limits.decide(ratio.interval),
                value: Some(ratio.value),
                quantity: Quantity::Ratio,
                interval: ratio.interval,
                limits,
                places: ratio.places,
                remark: ratio.interval.is_none().then(|| NO_INTERVAL.to_owned()),
                points: Vec::new(),
            },
        }
    }

    /// What was not measured.
    pub(crate) fn gap(what: String, gap: MissingReason, limits: Limits) -> Self {
        Self {
            what,
            outcome: Outcome::NotMeasured,
            value: None,
            quantity: Quantity::Ratio,
            interval: None,
            limits,
            places: 0,
            remark: Some(gap),
            points: Vec::new(),
        }
    }

    /// How far the number is from where the outcome would be another, as a ratio's logarithm: less
    /// is closer.
    pub(crate) fn margin(&self) -> f64 {
        let Some(value) = self.value.filter(|value| *value > 0.0) else {
            return f64::INFINITY;
        };
        let limits = [self.limits.at_least, self.limits.at_most]
            .into_iter()
            .flatten();
        let margins = limits
            .filter(|limit| *limit > 0.0)
            .map(|limit| (value / limit).ln().abs());
        margins.fold(f64::INFINITY, f64::min)
    }
}

/// What it comes to where every finding must hold: one that fails decides, and nothing makes up for
/// one that is lacking.
pub(crate) fn all_must_hold(findings: &[Finding]) -> Outcome {
    let outcomes = findings.iter().map(|finding| finding.outcome);
    outcomes.min().unwrap_or(Outcome::NotMeasured)
}

/// The finding that decides: of those of the common outcome the closest that holds, or the farthest
/// that fails.
pub(crate) fn decisive(findings: &[Finding], outcome: Outcome) -> Option<&Finding> {
    let of_outcome = findings.iter().filter(|finding| finding.outcome == outcome);
    let by_margin = |a: &&Finding, b: &&Finding| a.margin().total_cmp(&b.margin());
    match outcome {
        Outcome::Fails => of_outcome.rev().max_by(by_margin),
        _ => of_outcome.min_by(by_margin),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(low: f64, high: f64) -> Option<Interval> {
        Some(Interval { low, high })
    }

    #[test]
    fn an_interval_that_contains_the_limit_decides_nothing() {
        let limits = Limits {
            at_least: Some(1.25),
            at_most: Some(1.75),
            strict: false,
        };
        for (low, high, outcome) in [
            (1.25, 1.75, Outcome::Holds),
            (1.3, 1.8, Outcome::Undecided),
            (1.0, 1.3, Outcome::Undecided),
            (1.0, 2.0, Outcome::Undecided),
            (1.8, 2.0, Outcome::Fails),
            (0.5, 1.2, Outcome::Fails),
            (f64::INFINITY, f64::INFINITY, Outcome::Fails),
        ] {
            assert_eq!(limits.decide(interval(low, high)), outcome, "{low} {high}");
        }
        assert_eq!(limits.decide(None), Outcome::Undecided);
    }

    #[test]
    fn more_than_one_is_not_one() {
        let strict = Limits {
            at_least: Some(1.0),
            at_most: None,
            strict: true,
        };
        assert_eq!(strict.decide(interval(1.0, 1.0)), Outcome::Fails);
        assert_eq!(strict.decide(interval(1.0, 1.2)), Outcome::Undecided);
        assert_eq!(strict.decide(interval(1.1, 1.2)), Outcome::Holds);
        assert_eq!(
            Limits::at_least(1.0).decide(interval(1.0, 1.0)),
            Outcome::Holds
        );
    }

    #[test]
    fn what_fails_decides_before_what_is_lacking() {
        let finding = |outcome, value| Finding {
            outcome,
            value: Some(value),
            ..Finding::gap("x".into(), "gap".into(), Limits::at_least(1.0))
        };
        let holds = [finding(Outcome::Holds, 3.0), finding(Outcome::Holds, 1.1)];
        assert_eq!(all_must_hold(&holds), Outcome::Holds);
        let closest = decisive(&holds, Outcome::Holds).expect("one");
        assert_eq!(closest.value, Some(1.1));
        let mixed = [
            finding(Outcome::Undecided, 1.0),
            finding(Outcome::NotMeasured, 1.0),
            finding(Outcome::Fails, 0.9),
            finding(Outcome::Fails, 0.1),
        ];
        assert_eq!(all_must_hold(&mixed), Outcome::Fails);
        assert_eq!(all_must_hold(&mixed[..2]), Outcome::NotMeasured);
        let farthest = decisive(&mixed, Outcome::Fails).expect("one");
        assert_eq!(farthest.value, Some(0.1));
        assert_eq!(all_must_hold(&[]), Outcome::NotMeasured);
    }
}
