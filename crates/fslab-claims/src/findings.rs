//! Findings, and the outcome of several of them.

use fslab_stats::Interval;

use crate::along_sweep::lead_changes;
use crate::missing::MissingReason;
use crate::ratio::Ratio;
use crate::{ClaimOutcome, Finding, Limits, Quantity};

/// Remark on a single repeat of real time.
pub(crate) const NO_INTERVAL: &str = "a single repeat has no interval";

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

    /// The outcome for a number that lies in `interval`.
    pub(crate) fn decide(&self, interval: Option<Interval>) -> ClaimOutcome {
        let Some(Interval { low, high }) = interval else {
            return ClaimOutcome::Undecided;
        };
        if self.admit(low) && self.admit(high) {
            return ClaimOutcome::Holds;
        }
        if self.is_below(high) || self.is_above(low) {
            ClaimOutcome::Fails
        } else {
            ClaimOutcome::Undecided
        }
    }
}

impl Finding {
    /// The ratio of the first to the second of `names`, behind `prefix`, or the reason why there is
    /// none. One whose lead changes along a sweep decides nothing.
    pub(crate) fn of_ratio(
        prefix: &str,
        names: [&str; 2],
        ratio: Result<Ratio, MissingReason>,
        limits: Limits,
    ) -> Self {
        let what = format!("{prefix}{} / {}", names[0], names[1]);
        let ratio = match ratio {
            Err(gap) => return Self::gap(what, gap, limits),
            Ok(ratio) => ratio,
        };
        let change = lead_changes(&ratio.points, limits, names);
        let outcome = match change {
            Some(_) => ClaimOutcome::Undecided,
            None => limits.decide(ratio.interval),
        };
        let no_interval = ratio.interval.is_none().then(|| NO_INTERVAL.to_owned());
        Self {
            what,
            outcome,
            value: Some(ratio.value),
            quantity: Quantity::Ratio,
            interval: ratio.interval,
            limits,
            places: ratio.coverage.counted,
            left_out: ratio.coverage.left_out,
            remark: change.or(no_interval),
            points: Vec::new(),
        }
    }

    /// The share of the repeats that are as claimed, which all must be.
    pub(crate) fn of_repeats(what: String, confirming: usize, repeats: usize) -> Self {
        Self {
            outcome: match confirming {
                all if all == repeats => ClaimOutcome::Holds,
                0 => ClaimOutcome::Fails,
                _ => ClaimOutcome::Undecided,
            },
            value: Some(100.0 * confirming as f64 / repeats as f64),
            quantity: Quantity::Percent,
            places: 1,
            ..Self::gap(what, "", Limits::at_least(100.0))
        }
    }

    /// A finding without a number.
    pub(crate) fn gap(what: String, gap: impl Into<MissingReason>, limits: Limits) -> Self {
        let gap = gap.into();
        Self {
            what,
            outcome: gap.outcome(),
            value: None,
            quantity: Quantity::Ratio,
            interval: None,
            limits,
            places: 0,
            left_out: 0,
            remark: Some(gap.into_text()),
            points: Vec::new(),
        }
    }

    /// Distance of the number from the nearest limit, as a ratio's logarithm.
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

/// The outcome where every finding must hold: fails if one fails, else not applicable if one is
/// not, else not measured if one was not measured, else undecided if one is.
pub(crate) fn all_must_hold(findings: &[Finding]) -> ClaimOutcome {
    let outcomes = findings.iter().map(|finding| finding.outcome);
    outcomes.min().unwrap_or(ClaimOutcome::NotMeasured)
}

/// The finding that decides, of those with the given outcome: of failures the farthest from its
/// limit, else the closest.
pub(crate) fn decisive(findings: &[Finding], outcome: ClaimOutcome) -> Option<&Finding> {
    let of_outcome = findings.iter().filter(|finding| finding.outcome == outcome);
    let by_margin = |a: &&Finding, b: &&Finding| a.margin().total_cmp(&b.margin());
    match outcome {
        ClaimOutcome::Fails => of_outcome.rev().max_by(by_margin),
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
    fn an_interval_that_contains_the_limit_is_undecided() {
        let limits = Limits {
            at_least: Some(1.25),
            at_most: Some(1.75),
            strict: false,
        };
        for (low, high, outcome) in [
            (1.25, 1.75, ClaimOutcome::Holds),
            (1.3, 1.8, ClaimOutcome::Undecided),
            (1.0, 1.3, ClaimOutcome::Undecided),
            (1.0, 2.0, ClaimOutcome::Undecided),
            (1.8, 2.0, ClaimOutcome::Fails),
            (0.5, 1.2, ClaimOutcome::Fails),
            (f64::INFINITY, f64::INFINITY, ClaimOutcome::Fails),
        ] {
            assert_eq!(limits.decide(interval(low, high)), outcome, "{low} {high}");
        }
        assert_eq!(limits.decide(None), ClaimOutcome::Undecided);
    }

    #[test]
    fn a_strict_limit_excludes_itself() {
        let strict = Limits {
            at_least: Some(1.0),
            at_most: None,
            strict: true,
        };
        assert_eq!(strict.decide(interval(1.0, 1.0)), ClaimOutcome::Fails);
        assert_eq!(strict.decide(interval(1.0, 1.2)), ClaimOutcome::Undecided);
        assert_eq!(strict.decide(interval(1.1, 1.2)), ClaimOutcome::Holds);
        assert_eq!(
            Limits::at_least(1.0).decide(interval(1.0, 1.0)),
            ClaimOutcome::Holds
        );
    }

    #[test]
    fn a_failure_decides_before_what_was_not_measured() {
        let finding = |outcome, value| Finding {
            outcome,
            value: Some(value),
            ..Finding::gap("x".into(), "gap", Limits::at_least(1.0))
        };
        let holds = [
            finding(ClaimOutcome::Holds, 3.0),
            finding(ClaimOutcome::Holds, 1.1),
        ];
        assert_eq!(all_must_hold(&holds), ClaimOutcome::Holds);
        let closest = decisive(&holds, ClaimOutcome::Holds).expect("one");
        assert_eq!(closest.value, Some(1.1));
        let mixed = [
            finding(ClaimOutcome::Undecided, 1.0),
            finding(ClaimOutcome::NotMeasured, 1.0),
            finding(ClaimOutcome::Fails, 0.9),
            finding(ClaimOutcome::Fails, 0.1),
        ];
        assert_eq!(all_must_hold(&mixed), ClaimOutcome::Fails);
        assert_eq!(all_must_hold(&mixed[..2]), ClaimOutcome::NotMeasured);
        let inapplicable = finding(ClaimOutcome::NotApplicable, 1.0);
        let two = [mixed[1].clone(), inapplicable];
        assert_eq!(all_must_hold(&two), ClaimOutcome::NotApplicable);
        let farthest = decisive(&mixed, ClaimOutcome::Fails).expect("one");
        assert_eq!(farthest.value, Some(0.1));
        assert_eq!(all_must_hold(&[]), ClaimOutcome::NotMeasured);
    }
}
