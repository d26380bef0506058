//! A run in long format: every metric of every phase of every trial, with its dimensions.

use std::collections::BTreeMap;

use fslab_model::{
    CachePolicy, METRICS, Metric, MetricDefinition, PhaseOutcome, PhaseRecord, Point, PointValue,
    Round, RunRecord, SubjectPlan, TrialOutcome, TrialRecord, VenueKind, trial_metrics,
};

use crate::analysis::STEP_METRICS;
use crate::dimension_value::Values;
use crate::{Analysis, Repeat, RepeatState};

/// The dimensions of a result as columns, see [`Observation::dimensions`].
pub const DIMENSIONS: [&str; 26] = [
    "run",
    "plan_hash",
    "fslab",
    "kernel",
    "host_kernel",
    "lab",
    "study",
    "scale",
    "venue",
    "disk",
    "memory_bytes",
    "size_bytes",
    "cold",
    "engine",
    "seed",
    "subject",
    "mkfs_command",
    "mount_command",
    "cell",
    "repeat",
    "position",
    "started_unix_s",
    "outcome",
    "phase",
    "workload",
    "cache",
];

/// The metric of an observation as columns, see [`Observation::figure`].
pub const FIGURE: [&str; 4] = ["metric", "value", "unit", "better"];

/// The place of an observation in its trial, as the last columns, see [`Observation::places`].
pub const PLACES: [&str; 7] = [
    "mount",
    "iteration",
    "sweep",
    "point",
    "kind",
    "headline",
    "sensitivity",
];

/// One metric of one phase, or round, of one trial.
#[derive(Clone, Copy, Debug)]
pub struct Observation<'a> {
    pub trial: &'a TrialRecord,
    /// The round of the trial; `None` if the phases run once.
    pub round: Option<Round>,
    /// A record of the phase, for what all of them share; `None` for figures of a trial, and if no
    /// trial recorded the phase.
    pub record: Option<&'a PhaseRecord>,
    /// The outcome of the phase or, for figures of a trial, of the trial.
    pub outcome: &'static str,
    /// The phase; empty for figures of a trial.
    pub phase: &'a str,
    pub workload: &'a str,
    /// The cache policy.
    pub cache: &'static str,
    pub metric: &'static MetricDefinition,
    /// Its value; `None` if not measured.
    pub value: Option<f64>,
    /// The sensitivity of the phase's headline figure for the trial's subject, as a share of it;
    /// `None` if unknown.
    pub sensitivity: Option<f64>,
}

impl Observation<'_> {
    /// True if both are of one round of one phase, or of one trial outside its phases: then all
    /// but their metrics are equal.
    pub fn is_of_same_row(&self, other: &Self) -> bool {
        let row = |it: &Self| (it.trial.trial, it.round);
        row(self) == row(other) && self.phase == other.phase
    }

    /// The values of [`DIMENSIONS`] of a trial of `run`. The kernel is the one that the trial ran
    /// on, which in a guest is not the host's; commands are the plan's. Unknown values of an
    /// imported run are empty, as is what the venue does not have.
    pub fn dimensions(&self, run: &RunRecord) -> [String; DIMENSIONS.len()] {
        let (header, plan) = (&run.header, &run.header.plan);
        let is_known = plan.venue.kind() != VenueKind::Imported;
        let known = |text: String| if is_known { text } else { String::new() };
        let cell = self.trial.trial.cell;
        let subject = plan.subject(cell);
        let lab = subject.and_then(|subject| plan.lab_of(subject));
        let (kernel, lab) = lab.map(|lab| (lab.kernel, lab.digest)).unzip();
        let host_kernel = header.machine.kernel.clone().unwrap_or_default();
        let command = |of: fn(&SubjectPlan) -> &Option<Vec<String>>| {
            let words = subject.and_then(|subject| of(subject).as_ref());
            words.map_or_else(String::new, |words| words.join(" "))
        };
        let memory = plan.venue.guest_memory();
        [
            header.run.to_string(),
            header.plan_hash.to_string(),
            header.fslab.clone(),
            kernel.unwrap_or_else(|| host_kernel.clone()),
            host_kernel,
            lab.unwrap_or_default(),
            plan.study.clone(),
            known(plan.scale.to_string()),
            plan.venue.kind().as_str().to_owned(),
            Values::of_subject(header, cell.0 as usize).device(),
            memory.map_or_else(String::new, |memory| memory.0.to_string()),
            known(plan.size_bytes.0.to_string()),
            known(plan.cold.as_str().to_owned()),
            plan.engine.clone(),
            known(plan.seed.to_string()),
            self.trial.subject.to_string(),
            command(|subject| &subject.mkfs),
            command(|subject| &subject.mount),
            cell.0.to_string(),
            self.trial.trial.repeat.to_string(),
            self.trial.position.to_string(),
            self.trial.started_unix_s.to_string(),
            self.outcome.to_owned(),
            self.phase.to_owned(),
            self.workload.to_owned(),
            self.cache.to_owned(),
        ]
    }

    /// The values of [`FIGURE`], in the metric's unit with all digits; the value is empty if not
    /// measured. `better` is `higher`, `lower` or `neither`.
    pub fn figure(&self) -> [String; FIGURE.len()] {
        let value = self.value.map(|value| value.to_string());
        [
            self.metric.name.to_owned(),
            value.unwrap_or_default(),
            self.metric.unit.symbol().to_owned(),
            self.metric.better.as_str().to_owned(),
        ]
    }

    /// The values of [`PLACES`]: the round, from 0; the sweep and its point; the phase's kind and
    /// the metric of its headline, and its sensitivity. Values that do not apply are empty.
    pub fn places(&self) -> [String; PLACES.len()] {
        let number = |of: fn(Round) -> u32| {
            let number = self.round.map(of);
            number.map_or_else(String::new, |number| number.to_string())
        };
        let swept = self.record.and_then(|record| record.swept.as_ref());
        let text = |text: Option<&str>| text.unwrap_or_default().to_owned();
        [
            number(|round| round.mount),
            number(|round| round.iteration),
            text(swept.map(|swept| swept.phase.as_str())),
            swept.map_or_else(String::new, |swept| point_text(&swept.point)),
            text(self.record.map(|record| record.kind.as_str())),
            text(self.record.map(|record| record.headline.metric().name)),
            self.sensitivity
                .map_or_else(String::new, |share| share.to_string()),
        ]
    }
}

/// A point as `file_size=65536B record=4096B processes=2`: sizes end in `B`.
fn point_text(point: &Point) -> String {
    let value = |(name, value): (&String, &PointValue)| match value {
        PointValue::Bytes(bytes) => format!("{name}={bytes}B"),
        PointValue::Count(count) => format!("{name}={count}"),
    };
    point.iter().map(value).collect::<Vec<_>>().join(" ")
}

/// Every metric of every phase of every trial, by trial and round; metrics of a trial (mkfs, mount,
/// unmount, check) before those of its phases. Trials without a record are left out.
pub fn observations(run: &RunRecord) -> Vec<Observation<'_>> {
    let analysis = Analysis::of(run);
    let mut records: BTreeMap<&str, &PhaseRecord> = BTreeMap::new();
    for record in run.trials.iter().flat_map(|trial| &trial.phases) {
        records.entry(&record.name).or_insert(record);
    }
    let mut observations = Vec::new();
    for trial in &run.trials {
        observations.extend(of_trial(trial));
        for phase in analysis.runs() {
            let cell = phase.cells.get(trial.trial.cell.0 as usize);
            let Some(repeat) =
                cell.and_then(|cell| cell.repeats.iter().find(|r| r.repeat == trial.trial.repeat))
            else {
                continue;
            };
            let record = records.get(phase.name).copied();
            let sensitivity = phase.sensitivity(trial.trial.cell.0 as usize);
            for (round, outcome, figures) in rounds(repeat) {
                let metrics = METRICS.iter().filter(|m| !STEP_METRICS.contains(m));
                observations.extend(metrics.map(|metric| Observation {
                    trial,
                    round,
                    record,
                    outcome,
                    phase: phase.name,
                    workload: phase.workload,
                    cache: cache(phase.cache),
                    metric,
                    value: value(metric, &figures),
                    sensitivity,
                }));
            }
        }
    }
    observations
}

/// The metrics of a trial outside its phases.
fn of_trial(trial: &TrialRecord) -> impl Iterator<Item = Observation<'_>> {
    let outcome = match trial.outcome {
        TrialOutcome::Done => "done",
        TrialOutcome::Failed { .. } => "failed",
    };
    let figures = trial_metrics(trial);
    STEP_METRICS.into_iter().map(move |metric| Observation {
        trial,
        round: None,
        record: None,
        outcome,
        phase: "",
        workload: "",
        cache: "",
        metric,
        value: value(metric, &figures),
        sensitivity: None,
    })
}

/// The rounds of a repeat, each with its outcome and figures; a repeat that ran once is one.
fn rounds(repeat: &Repeat) -> Vec<(Option<Round>, &'static str, Vec<Metric>)> {
    if repeat.rounds.is_empty() {
        return vec![(None, state(&repeat.state), repeat.metrics.clone())];
    }
    let rounds = repeat.rounds.iter().map(|round| {
        let outcome = match round.record.map(|record| &record.outcome) {
            Some(PhaseOutcome::Done) => "done",
            Some(PhaseOutcome::Skipped { .. }) => "skipped",
            Some(PhaseOutcome::Failed { .. }) => "failed",
            None => "swept",
        };
        (Some(round.round), outcome, round.metrics.clone())
    });
    rounds.collect()
}

fn value(metric: &MetricDefinition, figures: &[Metric]) -> Option<f64> {
    let found = figures.iter().find(|figure| figure.definition == metric);
    found.map(|figure| figure.value)
}

fn state(state: &RepeatState) -> &'static str {
    match state {
        RepeatState::Done(_) => "done",
        RepeatState::Buffered(_) => "buffered",
        RepeatState::Skipped(_) => "skipped",
        RepeatState::Failed(_) => "failed",
        RepeatState::Lost(_) => "trial-failed",
        RepeatState::NotRun => "not-run",
        RepeatState::Points { .. } => "swept",
    }
}

fn cache(policy: CachePolicy) -> &'static str {
    match policy {
        CachePolicy::Keep => "keep",
        CachePolicy::Cold => "cold",
        CachePolicy::Warm => "warm",
    }
}
