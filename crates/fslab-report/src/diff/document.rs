//! A diff and a gate as JSON documents.

use fslab_stats::{Interval, Verdict};
use schemars::JsonSchema;
use serde::Serialize;

use super::meetings::MeetingsDocument;
use super::tables::ruling_word;
use fslab_compare::Difference;
use fslab_compare::{Check, Gate};
use fslab_compare::{Contrast, Side};
use fslab_compare::{Diff, Overall};

/// A diff with all its figures.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DiffDocument<'a> {
    base: String,
    new: String,
    differences: &'a [Difference],
    unpaired: &'a [String],
    /// Requested metrics that neither run has.
    not_measured: Vec<&'static str>,
    not_compared: Vec<NotCompared<'a>>,
    /// How phases meet that were mapped; null if they meet by name alone.
    phases: Option<MeetingsDocument<'a>>,
    /// Numbers of repeats of base and new run, if they differ.
    repeats: Option<[u32; 2]>,
    tolerance: f64,
    contrasts: Vec<ContrastDocument<'a>>,
    /// Each subject over all its phases, by the geometric mean.
    overall: Vec<OverallDocument<'a>>,
}

/// A gate with all its checks.
#[derive(Debug, Serialize, JsonSchema)]
pub struct GateDocument<'a> {
    base: String,
    new: String,
    passed: bool,
    /// `passed`, `failed`, `undecided` or `cannot judge`.
    outcome: &'static str,
    summary: String,
    max_slowdown: f64,
    confidence: f64,
    /// The largest share of gates that fail although nothing is slower than the limit.
    false_alarms: f64,
    intervals_together: usize,
    /// The number of disturbed measurements of both sides, over all checks.
    disturbed: usize,
    /// The answers of base and new run, in a few words; null if a side has several runs, or one
    /// without an answer.
    answers: Option<[&'a str; 2]>,
    checks: Vec<CheckDocument<'a>>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct NotCompared<'a> {
    phase: &'a str,
    differs: &'a str,
}

#[derive(Debug, Serialize, JsonSchema)]
struct OverallDocument<'a> {
    subject: &'a str,
    phases: usize,
    speed: f64,
    speed_interval: Option<[f64; 2]>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct CheckDocument<'a> {
    ruling: &'static str,
    fails: bool,
    /// The loss of speed that the check would more likely detect than miss.
    sees_from: Option<f64>,
    interval: Option<[f64; 2]>,
    #[serde(flatten)]
    contrast: ContrastDocument<'a>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ContrastDocument<'a> {
    subject: &'a str,
    phase: &'a str,
    metric: &'static str,
    unit: &'static str,
    better: &'static str,
    base: SideDocument<'a>,
    new: SideDocument<'a>,
    exact: bool,
    speed: Option<f64>,
    speed_interval: Option<[f64; 2]>,
    test: Option<&'static str>,
    p: Option<f64>,
    p_corrected: Option<f64>,
    verdict: &'static str,
}

#[derive(Debug, Serialize, JsonSchema)]
struct SideDocument<'a> {
    values: Vec<f64>,
    /// The number of values of each run.
    runs: Vec<usize>,
    /// What the speed is a ratio of; null if a value is not positive.
    geometric_mean: Option<f64>,
    median: Option<f64>,
    mean: Option<f64>,
    sd: Option<f64>,
    absence: Option<&'a str>,
    /// The number of values disturbed while measured.
    disturbed: usize,
}

impl<'a> DiffDocument<'a> {
    /// The document of `diff`.
    pub fn of(diff: &'a Diff) -> Self {
        let others = diff.others.iter();
        Self {
            base: diff.base.join(","),
            new: diff.new.join(","),
            differences: &diff.differences,
            unpaired: &diff.unpaired,
            not_measured: diff.unmeasured.iter().map(|metric| metric.name).collect(),
            not_compared: others
                .map(|(phase, differs)| NotCompared { phase, differs })
                .collect(),
            phases: diff.meetings.as_ref().map(MeetingsDocument::of),
            repeats: diff.repeats.map(|(base, new)| [base, new]),
            tolerance: diff.tolerance.share(),
            contrasts: diff.contrasts.iter().map(ContrastDocument::of).collect(),
            overall: diff.overall.iter().map(OverallDocument::of).collect(),
        }
    }
}

impl<'a> GateDocument<'a> {
    /// The document of `gate`.
    pub fn of(gate: &'a Gate) -> Self {
        let check = |check: &'a Check| CheckDocument {
            ruling: ruling_word(check.ruling),
            fails: gate.fails(check),
            sees_from: gate.sees_from(check),
            interval: check.interval.map(ends),
            contrast: ContrastDocument::of(&check.contrast),
        };
        Self {
            base: gate.base.join(","),
            new: gate.new.join(","),
            passed: gate.passes(),
            outcome: gate.outcome().as_str(),
            summary: gate.summary(),
            max_slowdown: gate.rule.max_slowdown.share(),
            confidence: gate.rule.confidence,
            false_alarms: gate.rule.false_alarms(),
            intervals_together: gate.family,
            disturbed: gate.disturbed(),
            answers: (gate.answers.as_ref()).map(|(base, new)| [base.as_str(), new.as_str()]),
            checks: gate.checks.iter().map(check).collect(),
        }
    }
}

impl<'a> OverallDocument<'a> {
    fn of(overall: &'a Overall) -> Self {
        Self {
            subject: &overall.subject,
            phases: overall.phases,
            speed: overall.speed.value,
            speed_interval: overall.speed.interval.map(ends),
        }
    }
}

impl<'a> ContrastDocument<'a> {
    fn of(contrast: &'a Contrast) -> Self {
        let metric = contrast.metric;
        Self {
            subject: &contrast.subject,
            phase: &contrast.phase,
            metric: metric.name,
            unit: metric.unit.symbol(),
            better: metric.better.as_str(),
            base: SideDocument::of(&contrast.base),
            new: SideDocument::of(&contrast.new),
            exact: contrast.exact,
            speed: contrast.speed.map(|speed| speed.value),
            speed_interval: contrast.speed.and_then(|speed| speed.interval).map(ends),
            test: contrast.test.as_ref().map(|test| test.method.as_str()),
            p: contrast.test.as_ref().map(|test| test.p_value),
            p_corrected: contrast.p_corrected,
            verdict: match contrast.verdict {
                _ if contrast.absence().is_some() => "none",
                Verdict::Faster => "faster",
                Verdict::Slower => "slower",
                Verdict::Same { .. } => "same",
                Verdict::Undecided => "undecided",
            },
        }
    }
}

impl<'a> SideDocument<'a> {
    fn of(side: &'a Side) -> Self {
        let summary = side.summary;
        Self {
            values: side.values().collect(),
            runs: side.runs.iter().map(Vec::len).collect(),
            geometric_mean: side.geometric_mean(),
            median: summary.map(|summary| summary.median),
            mean: summary.map(|summary| summary.mean),
            sd: summary.and_then(|summary| summary.sd),
            absence: side.absence.as_deref(),
            disturbed: side.disturbed,
        }
    }
}

fn ends(interval: Interval) -> [f64; 2] {
    [interval.low, interval.high]
}
