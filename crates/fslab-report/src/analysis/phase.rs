//! One phase over all subjects and repeats.

use std::cmp::max;

use fslab_model::{
    CachePolicy, CacheVerdict, DeviceInsight, Failure, Headline, LatencyHistogram, Metric,
    MetricDefinition, Parameters, PhaseKind, PhaseOutcome, PhaseRecord, RunRecord, TrialOutcome,
    TrialRecord, VenueKind, phase_metrics,
};

use super::Comparison;

/// How a phase ended in one repeat.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RepeatState<'a> {
    /// It ran to its end.
    Done(&'a PhaseRecord),
    /// It was not run, for a reason known beforehand.
    Skipped(&'a str),
    /// It failed.
    Failed(&'a Failure),
    /// Its trial failed before it came to the phase.
    Lost(&'a Failure),
    /// There is no record of it: the run was stopped before this trial, or the trial did not
    /// report the phase.
    NotRun,
}

/// One repeat of a phase for one subject.
#[derive(Clone, Debug)]
pub struct Repeat<'a> {
    /// The repeat, from 0.
    pub repeat: u32,
    /// Its trial; `None` where there is no record.
    pub trial: Option<&'a TrialRecord>,
    /// How the phase ended.
    pub state: RepeatState<'a>,
    /// Its figures; empty unless done.
    pub metrics: Vec<Metric>,
}

/// One phase of one subject: all its repeats.
#[derive(Clone, Debug)]
pub struct PhaseCell<'a> {
    /// As many as the plan asks for, and any beyond.
    pub repeats: Vec<Repeat<'a>>,
}

/// One phase over all subjects.
#[derive(Clone, Debug)]
pub struct PhaseAnalysis<'a> {
    /// Its name in the study.
    pub name: &'a str,
    /// The workload.
    pub workload: &'a str,
    /// What the caches held.
    pub cache: CachePolicy,
    /// All parameters of the workload.
    pub parameters: &'a Parameters,
    /// What it does; `None` where no trial recorded the phase.
    pub kind: Option<PhaseKind>,
    /// One a subject, in the order of the plan.
    pub cells: Vec<PhaseCell<'a>>,
    /// The headline metric compared; `None` where no trial recorded the phase.
    pub comparison: Option<Comparison>,
    /// Whether its times are virtual.
    pub is_virtual: bool,
}

/// The phases of `run`: those of the plan in its order, then any that only trials know.
pub(super) fn arrange<'a>(
    run: &'a RunRecord,
    cells: &[Vec<&'a TrialRecord>],
) -> Vec<PhaseAnalysis<'a>> {
    let planned = run.header.plan.phases.iter().map(|spec| Named {
        name: &spec.name,
        workload: &spec.workload,
        cache: spec.cache,
        parameters: &spec.parameters,
    });
    let mut named: Vec<Named> = planned.collect();
    for phase in cells.iter().flatten().flat_map(|trial| &trial.phases) {
        if named.iter().all(|known| known.name != phase.name) {
            named.push(Named {
                name: &phase.name,
                workload: &phase.workload,
                cache: phase.cache,
                parameters: &phase.parameters,
            });
        }
    }
    named
        .into_iter()
        .map(|named| named.analyse(run, cells))
        .collect()
}

struct Named<'a> {
    name: &'a str,
    workload: &'a str,
    cache: CachePolicy,
    parameters: &'a Parameters,
}

impl<'a> Named<'a> {
    fn analyse(self, run: &RunRecord, cells: &[Vec<&'a TrialRecord>]) -> PhaseAnalysis<'a> {
        let repeats = run.header.plan.repeats;
        let found = cells
            .iter()
            .flatten()
            .flat_map(|trial| &trial.phases)
            .find(|phase| phase.name == self.name);
        let cells = cells
            .iter()
            .map(|trials| PhaseCell::of(self.name, repeats, trials))
            .collect();
        let mut phase = PhaseAnalysis {
            name: self.name,
            workload: self.workload,
            cache: self.cache,
            parameters: self.parameters,
            kind: found.map(|phase| phase.kind),
            cells,
            comparison: None,
            is_virtual: run.header.plan.venue.kind() == VenueKind::Sim,
        };
        phase.comparison = found.map(|record| phase.compare(Headline::metric(record.headline)));
        phase
    }
}

impl PhaseAnalysis<'_> {
    /// Whether every figure of the phase is the only one that there can be: virtual time, and one
    /// repeat.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.is_virtual && self.cells.iter().all(|cell| cell.repeats.len() < 2)
    }

    /// Compares the subjects by any metric of a phase.
    #[must_use]
    pub fn compare(&self, metric: &'static MetricDefinition) -> Comparison {
        let samples = self.cells.iter().map(|cell| cell.values(metric)).collect();
        if self.is_virtual {
            Comparison::of_virtual_time(metric, samples)
        } else {
            Comparison::of(metric, samples)
        }
    }
}

impl<'a> PhaseCell<'a> {
    fn of(name: &str, repeats: u32, trials: &[&'a TrialRecord]) -> Self {
        let recorded = trials.iter().map(|t| t.trial.repeat + 1).max().unwrap_or(0);
        let repeats = (0..max(repeats, recorded))
            .map(|repeat| {
                let trial = trials.iter().find(|trial| trial.trial.repeat == repeat);
                Repeat::of(name, repeat, trial.copied())
            })
            .collect();
        Self { repeats }
    }

    /// The metric's value in each repeat that has one.
    #[must_use]
    pub fn values(&self, metric: &MetricDefinition) -> Vec<f64> {
        self.repeats
            .iter()
            .filter_map(|repeat| repeat.value(metric))
            .collect()
    }

    /// The records of the repeats that are done.
    pub fn done(&self) -> impl Iterator<Item = &'a PhaseRecord> + '_ {
        self.repeats.iter().filter_map(|repeat| match repeat.state {
            RepeatState::Done(record) => Some(record),
            _ => None,
        })
    }

    /// The latencies of all repeats in one histogram; percentiles are never averaged.
    #[must_use]
    pub fn latency(&self) -> Option<LatencyHistogram> {
        let mut histograms = self.done().filter_map(PhaseRecord::latency);
        let mut merged = histograms.next()?;
        histograms.for_each(|histogram| merged.merge(&histogram));
        Some(merged)
    }

    /// What the simulated disk did, in the first repeat that knows: with virtual time, all repeats
    /// are alike.
    #[must_use]
    pub fn insight(&self) -> Option<&'a DeviceInsight> {
        self.done().find_map(|record| record.insight.as_ref())
    }

    /// The verdict of the repeat that the device had least part in: a single repeat from the page
    /// cache is enough to warn of.
    #[must_use]
    pub fn cache_verdict(&self) -> Option<CacheVerdict> {
        let rank = |verdict: &CacheVerdict| match verdict {
            CacheVerdict::Cache => 0,
            CacheVerdict::Mixed => 1,
            CacheVerdict::Device => 2,
        };
        self.done()
            .filter_map(PhaseRecord::cache_verdict)
            .min_by_key(rank)
    }

    /// Why the cell has no figure at all, in one line; `None` where it has one.
    #[must_use]
    pub fn absence(&self) -> Option<String> {
        let mut reasons = self.repeats.iter().map(|repeat| repeat.state.reason());
        if self.repeats.iter().any(Repeat::is_done) {
            return None;
        }
        Some(
            reasons
                .find_map(|reason| reason)
                .unwrap_or_else(|| "not run".to_owned()),
        )
    }
}

impl<'a> Repeat<'a> {
    fn of(name: &str, repeat: u32, trial: Option<&'a TrialRecord>) -> Self {
        let state = trial.map_or(RepeatState::NotRun, |trial| state(name, trial));
        let metrics = match state {
            RepeatState::Done(record) => phase_metrics(record),
            _ => Vec::new(),
        };
        Self {
            repeat,
            trial,
            state,
            metrics,
        }
    }

    /// The metric's value; `None` where it was not measured.
    #[must_use]
    pub fn value(&self, metric: &MetricDefinition) -> Option<f64> {
        let found = self.metrics.iter().find(|found| found.definition == metric);
        found.map(|found| found.value)
    }

    fn is_done(&self) -> bool {
        matches!(self.state, RepeatState::Done(_))
    }
}

impl RepeatState<'_> {
    /// Why there is no figure, in one line; `None` where there is one, or nothing is known.
    #[must_use]
    pub fn reason(&self) -> Option<String> {
        match self {
            Self::Done(_) | Self::NotRun => None,
            Self::Skipped(reason) => Some(format!("skipped: {reason}")),
            Self::Failed(failure) => Some(format!("failed: {failure}")),
            Self::Lost(failure) => Some(format!("trial failed: {failure}")),
        }
    }
}

fn state<'a>(name: &str, trial: &'a TrialRecord) -> RepeatState<'a> {
    match trial.phases.iter().find(|phase| phase.name == name) {
        Some(record) => match &record.outcome {
            PhaseOutcome::Done => RepeatState::Done(record),
            PhaseOutcome::Skipped { reason } => RepeatState::Skipped(reason),
            PhaseOutcome::Failed { failure } => RepeatState::Failed(failure),
        },
        None => match &trial.outcome {
            TrialOutcome::Failed { failure } => RepeatState::Lost(failure),
            TrialOutcome::Done => RepeatState::NotRun,
        },
    }
}
