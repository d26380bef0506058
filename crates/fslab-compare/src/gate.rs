//! The gate: fails if a run is certainly slower than another by more than is allowed.
//!
//! A check fails only if the complete interval of its speed is past the limit. The intervals are
//! simultaneous: each is wide enough that all of them contain the truth in the share of gates given
//! by the rule's confidence, whatever the number of checks (Holm, "A simple sequentially rejective
//! multiple test procedure", Scandinavian Journal of Statistics 6, 1979). So if nothing is slower
//! than the limit, at most half of one minus that share of all gates fail.

use fslab_model::{MetricDefinition, Percent};
use fslab_stats::{Estimate, Interval};

use crate::contrast::{Absence, Contrast};
use crate::diff::Diff;
use crate::wording::percent;

/// A loss above this is a total loss.
pub const NEARLY_ALL: f64 = 0.995;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GateRule {
    /// The allowed loss of speed: 5 % allows 0.95 of the base's.
    pub max_slowdown: Percent,
    /// The joint confidence of all intervals, such as 0.95.
    pub confidence: f64,
    /// Whether undecided checks fail.
    pub undecided_fails: bool,
    /// Whether a figure that only the base has passes.
    pub lost_passes: bool,
}

impl GateRule {
    /// The rule for a slowdown, otherwise with defaults.
    pub fn of(max_slowdown: Percent) -> Self {
        Self {
            max_slowdown,
            confidence: fslab_stats::CONFIDENCE,
            undecided_fails: false,
            lost_passes: false,
        }
    }

    /// The smallest allowed speed, relative to the base.
    pub fn limit(&self) -> f64 {
        (1.0 - self.max_slowdown.share()).max(0.0)
    }

    /// The largest share of gates that fail although nothing is slower than the limit.
    pub fn false_alarms(&self) -> f64 {
        (1.0 - self.confidence) / 2.0
    }
}

/// The result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ruling {
    /// The complete interval is past the limit.
    Slower,
    /// The complete interval is within the limit.
    Passed,
    /// The interval contains the limit.
    Undecided,
    /// Too few repeats for an interval.
    TooFew,
    /// Both runs have the figure, but there is no ratio: a value is 0, or the metric has no good
    /// direction.
    NoRatio,
    /// Only the base has the figure.
    Lost,
    /// The base lacks the figure, so there is nothing to compare with.
    NotJudged,
}

/// The result of a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr, strum::Display)]
#[strum(serialize_all = "kebab-case")]
pub enum GateOutcome {
    /// No check fails, and at least one figure is certainly within the limit.
    Passed,
    /// A check fails.
    Failed,
    /// No check fails, and no figure is certainly within the limit.
    Undecided,
    /// No check could have failed.
    #[strum(serialize = "cannot judge")]
    CannotJudge,
}

impl GateOutcome {
    /// The word in every output format.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// One figure and its ruling.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// The figure in both runs.
    pub contrast: Contrast,
    pub ruling: Ruling,
    /// The simultaneous interval compared with the limit, wider than the figure's own; `None` for
    /// an exact figure, and without an interval.
    pub interval: Option<Interval>,
}

/// The result of applying a rule to a diff.
#[derive(Clone, Debug, PartialEq)]
pub struct Gate {
    pub rule: GateRule,
    /// Names of the base runs.
    pub base: Vec<String>,
    /// Names of the new runs.
    pub new: Vec<String>,
    /// Every figure that either side has.
    pub checks: Vec<Check>,
    /// The number of simultaneous intervals.
    pub family: usize,
    /// Requested metrics that neither side has.
    pub unmeasured: Vec<&'static MetricDefinition>,
    /// See [`Diff::answers`].
    pub answers: Option<(String, String)>,
}

impl Gate {
    /// Judges the contrasts of `diff`.
    pub fn judge(diff: &Diff, rule: GateRule) -> Self {
        let limit = rule.limit();
        let p_value = |contrast: &Contrast| {
            contrast
                .as_speed()
                .filter(|_| !contrast.exact)?
                .tail_p_below(limit)
        };
        let p_values: Vec<Option<f64>> = diff.contrasts.iter().map(p_value).collect();
        let levels = holm_levels(&p_values, rule.false_alarms());
        let checks = diff.contrasts.iter().zip(&levels).map(|(contrast, level)| {
            let interval =
                level.and_then(|level| contrast.as_speed()?.tail_at(1.0 - 2.0 * level)?.interval);
            Check {
                ruling: ruling(contrast, interval, limit),
                interval,
                contrast: contrast.clone(),
            }
        });
        Self {
            rule,
            base: diff.base.clone(),
            new: diff.new.clone(),
            checks: checks.collect(),
            family: p_values.iter().flatten().count(),
            unmeasured: diff.unmeasured.clone(),
            answers: diff.answers.clone(),
        }
    }

    /// Whether the check fails the gate.
    pub fn fails(&self, check: &Check) -> bool {
        match check.ruling {
            Ruling::Slower => true,
            Ruling::Lost => !self.rule.lost_passes,
            Ruling::Undecided | Ruling::TooFew | Ruling::NoRatio => self.rule.undecided_fails,
            Ruling::Passed | Ruling::NotJudged => false,
        }
    }

    /// Whether the gate passes.
    pub fn passes(&self) -> bool {
        !self.checks.iter().any(|check| self.fails(check))
    }

    /// The checks of one ruling.
    pub fn with(&self, ruling: Ruling) -> impl Iterator<Item = &Check> {
        self.checks
            .iter()
            .filter(move |check| check.ruling == ruling)
    }

    /// The gate as a sentence.
    pub fn summary(&self) -> String {
        let count = |ruling| self.with(ruling).count();
        let judged = self.checks.len() - count(Ruling::NotJudged);
        let mut text = format!(
            "{} of {judged} figures slower than the limit of {}",
            count(Ruling::Slower),
            self.rule.max_slowdown
        );
        for (ruling, word) in [
            (Ruling::Lost, "lost"),
            (Ruling::Passed, "within it"),
            (Ruling::Undecided, "undecided"),
            (Ruling::TooFew, "with too few repeats"),
            (Ruling::NoRatio, "without a ratio"),
        ] {
            if count(ruling) > 0 {
                text += &format!(", {} {word}", count(ruling));
            }
        }
        if self.disturbed() > 0 {
            text += &format!(
                "; {} of {} measurements were disturbed",
                self.disturbed(),
                self.measurements()
            );
        }
        if let Some((base, new)) = self.answers.as_ref().filter(|(base, new)| base != new) {
            text += &format!("; the answer was '{base}' and is '{new}'");
        }
        if self.outcome() == GateOutcome::Undecided {
            text += "; ";
            text += &self.least_seen();
        }
        text
    }

    /// The number of disturbed measurements of both sides, over all checks.
    pub fn disturbed(&self) -> usize {
        let contrasts = self.checks.iter().map(|check| &check.contrast);
        contrasts.map(Contrast::disturbed).sum()
    }

    fn measurements(&self) -> usize {
        let contrasts = self.checks.iter().map(|check| &check.contrast);
        let sides = contrasts.flat_map(|contrast| [&contrast.base, &contrast.new]);
        sides.map(|side| side.values().count()).sum()
    }

    /// The smallest loss that an undecided gate would detect, as text.
    fn least_seen(&self) -> String {
        match self.detectable_losses().map(|[least, _]| least) {
            Some((loss, _)) if loss < NEARLY_ALL => format!(
                "a loss of less than {} was more likely missed than seen in every figure",
                percent(loss)
            ),
            _ => "any loss was more likely missed than seen".to_owned(),
        }
    }

    /// The result of all checks.
    pub fn outcome(&self) -> GateOutcome {
        match self.passes() {
            false => GateOutcome::Failed,
            true if !self.judges() => GateOutcome::CannotJudge,
            true if self.with(Ruling::Passed).next().is_none() => GateOutcome::Undecided,
            true => GateOutcome::Passed,
        }
    }

    /// Whether any check could have failed; otherwise the gate cannot judge.
    pub fn judges(&self) -> bool {
        let judged = |check: &Check| match check.ruling {
            Ruling::Slower | Ruling::Passed | Ruling::Undecided | Ruling::Lost => true,
            Ruling::TooFew | Ruling::NoRatio | Ruling::NotJudged => false,
        };
        self.checks.iter().any(judged)
    }

    /// The loss of speed that `check` would more likely detect than miss; `None` without an
    /// interval, unless exact: such a check cannot fail for slowness.
    pub fn sees_from(&self, check: &Check) -> Option<f64> {
        let speed = check.contrast.speed?;
        let reach = match check.contrast.exact {
            true => 1.0,
            false => check.interval?.high / speed.value,
        };
        Some(1.0 - self.rule.limit() / reach)
    }

    /// The checks with the smallest and the largest detectable loss, each with [`Gate::sees_from`].
    /// `None` if none has an interval.
    pub fn detectable_losses(&self) -> Option<[(f64, &Check); 2]> {
        let real = self.checks.iter().filter(|check| !check.contrast.exact);
        let each = || {
            let seen = |check| Some((self.sees_from(check)?, check));
            real.clone().filter_map(seen)
        };
        let least = each().min_by(|a, b| a.0.total_cmp(&b.0))?;
        Some([least, each().max_by(|a, b| a.0.total_cmp(&b.0))?])
    }

    /// Why no check can be judged, and what to do; `None` if one can.
    pub fn why_not(&self) -> Option<(&'static str, &'static str)> {
        if self.judges() {
            return None;
        }
        let has = |ruling| self.with(ruling).next().is_some();
        Some(match (has(Ruling::TooFew), has(Ruling::NoRatio)) {
            (true, false) => (
                "no figure has enough repeats for an interval",
                "each run needs at least two repeats, better five: --repeats 5",
            ),
            (true, true) => (
                "no figure has both a ratio and enough repeats for an interval",
                "each run needs at least two repeats; --metric names other figures",
            ),
            (false, _) => (
                "no figure has a ratio: a value is 0, or neither more nor less is better",
                "--metric names other figures",
            ),
        })
    }
}

fn ruling(contrast: &Contrast, interval: Option<Interval>, limit: f64) -> Ruling {
    match contrast.absence() {
        Some(Absence::New) => return Ruling::Lost,
        Some(Absence::Base | Absence::Both) => return Ruling::NotJudged,
        None => {}
    }
    let exact = |speed: Estimate| Interval {
        low: speed.value,
        high: speed.value,
    };
    let held = match contrast.exact {
        true => contrast.speed.map(exact),
        false => interval,
    };
    match held {
        Some(held) if held.high < limit => Ruling::Slower,
        Some(held) if held.low >= limit => Ruling::Passed,
        Some(_) => Ruling::Undecided,
        None if contrast.is_total_loss() => Ruling::Lost,
        None if contrast.speed.is_none() => Ruling::NoRatio,
        None => Ruling::TooFew,
    }
}

/// The level of Holm's procedure for each p-value: rejected ones at their own step, all others at
/// the step that stopped it.
fn holm_levels(p_values: &[Option<f64>], false_alarms: f64) -> Vec<Option<f64>> {
    let mut order: Vec<(usize, f64)> = p_values
        .iter()
        .enumerate()
        .filter_map(|(place, p)| Some((place, (*p)?)))
        .collect();
    order.sort_by(|a, b| a.1.total_cmp(&b.1));
    let level = |step: usize| false_alarms / (order.len() - step) as f64;
    let rejects = |(step, (_, p)): (usize, &(usize, f64))| *p < level(step);
    let rejected = order
        .iter()
        .enumerate()
        .take_while(|found| rejects(*found))
        .count();
    let mut levels = vec![None; p_values.len()];
    for (step, (place, _)) in order.iter().enumerate() {
        levels[*place] = Some(level(step.min(rejected)));
    }
    levels
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holm_compares_each_with_its_own_step_until_one_stops_it() {
        let p_values = [Some(0.2), None, Some(0.001), Some(0.01)];
        let levels = holm_levels(&p_values, 0.025);
        // 0.001 < 0.025 / 3 and 0.01 < 0.025 / 2; 0.2 is stopped at 0.025 / 1.
        assert_eq!(levels[1], None);
        let near = |found: Option<f64>, wanted: f64| {
            assert!(
                (found.expect("a level") - wanted).abs() < 1e-12,
                "{found:?}"
            );
        };
        near(levels[2], 0.025 / 3.0);
        near(levels[3], 0.025 / 2.0);
        near(levels[0], 0.025);
        let none = holm_levels(&[Some(0.3), Some(0.02)], 0.025);
        near(none[0], 0.025 / 2.0);
        near(none[1], 0.025 / 2.0);
    }
}
