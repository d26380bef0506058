//! One phase over all subjects and repeats.

use std::cmp::max;
use std::collections::{BTreeMap, BTreeSet};

use fslab_model::{
    CachePolicy, CacheVerdict, DeviceInsight, Failure, Headline, LatencyHistogram, Metric,
    MetricDefinition, Parameters, PhaseKind, PhaseOutcome, PhaseRecord, Point, RunRecord, Swept,
    TrialOutcome, TrialRecord, VenueKind, phase_metrics,
};

use fslab_stats::sensitivity;

use super::rounds::{RepeatRound, nested, rounds, together};
use super::{Comparison, SweepAnalysis, sweep};

/// How a phase ended in one repeat.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RepeatState<'a> {
    /// It ran to its end; of several rounds, at least one did, and this is the record of the one
    /// that comes nearest to their mean.
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
    /// It is swept, and ran to its end at some of its points.
    Points {
        /// At so many.
        done: usize,
        /// Of so many.
        planned: usize,
    },
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
    /// Its figures; empty unless done. Of several rounds their mean, and percentiles of all their
    /// latencies together.
    pub metrics: Vec<Metric>,
    /// Every round of the phase in that trial, whatever its end, in their order; empty where the
    /// phases run once.
    pub rounds: Vec<RepeatRound<'a>>,
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
    /// Whether its repeats differ by a perturbation of their guest, and in nothing else.
    pub is_perturbed: bool,
    /// Where it stands in its sweep; `None` for a phase that runs once, and for a sweep.
    pub point: Option<&'a Point>,
    /// Its points, where it was run at many: then `cells` and `comparison` are of their geometric
    /// means.
    pub sweep: Option<SweepAnalysis<'a>>,
}

/// The phases of a trial by their names, of which a sweep has thousands, with all their rounds.
type Index<'a> = BTreeMap<&'a str, Vec<&'a PhaseRecord>>;

/// A subject's trials, each with its phases.
type Trials<'a> = Vec<(&'a TrialRecord, Index<'a>)>;

/// The phases of `run`: those of the plan in its order, then any that only trials know. The points
/// of a sweep are one, where the first of them stands.
pub(super) fn arrange<'a>(
    run: &'a RunRecord,
    cells: &[Vec<&'a TrialRecord>],
) -> Vec<PhaseAnalysis<'a>> {
    let planned = run.header.plan.phases.iter().map(|spec| Named {
        name: &spec.name,
        workload: &spec.workload,
        cache: spec.cache,
        parameters: &spec.parameters,
        swept: spec.swept.as_ref(),
    });
    let mut named: Vec<Named> = planned.collect();
    let mut known: BTreeSet<&str> = named.iter().map(|named| named.name).collect();
    for phase in cells.iter().flatten().flat_map(|trial| &trial.phases) {
        if known.insert(&phase.name) {
            named.push(Named {
                name: &phase.name,
                workload: &phase.workload,
                cache: phase.cache,
                parameters: &phase.parameters,
                swept: phase.swept.as_ref(),
            });
        }
    }
    let cells: Vec<Trials> = cells.iter().map(|trials| index(trials)).collect();
    let mut parts: Vec<(&str, Vec<PhaseAnalysis>)> = Vec::new();
    for named in named {
        let part = named.swept.map(|swept| swept.phase.as_str());
        let phase = named.analyse(run, &cells);
        let place = part.and_then(|part| parts.iter().position(|(name, _)| *name == part));
        match place {
            Some(place) => parts[place].1.push(phase),
            None => parts.push((part.unwrap_or(phase.name), vec![phase])),
        }
    }
    let parts = parts.into_iter();
    parts
        .filter_map(|(name, phases)| joined(name, phases))
        .collect()
}

fn joined<'a>(name: &'a str, mut phases: Vec<PhaseAnalysis<'a>>) -> Option<PhaseAnalysis<'a>> {
    if phases.iter().any(|phase| phase.point.is_some()) {
        return sweep::join(name, phases);
    }
    phases.pop()
}

fn index<'a>(trials: &[&'a TrialRecord]) -> Trials<'a> {
    let of = |trial: &&'a TrialRecord| {
        let mut phases = Index::new();
        for phase in &trial.phases {
            let known = phases.entry(&phase.name).or_default();
            // Of two records of one name the first counts, and of two of one round.
            if known.iter().all(|earlier| earlier.round != phase.round) {
                known.push(phase);
            }
        }
        (*trial, phases)
    };
    trials.iter().map(of).collect()
}

struct Named<'a> {
    name: &'a str,
    workload: &'a str,
    cache: CachePolicy,
    parameters: &'a Parameters,
    swept: Option<&'a Swept>,
}

impl<'a> Named<'a> {
    fn analyse(self, run: &RunRecord, cells: &[Trials<'a>]) -> PhaseAnalysis<'a> {
        let repeats = run.header.plan.repeats;
        let found = cells
            .iter()
            .flatten()
            .find_map(|(_, phases)| phases.get(self.name)?.first().copied());
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
            is_perturbed: run.header.plan.perturb,
            point: self.swept.map(|swept| &swept.point),
            sweep: None,
        };
        phase.comparison = found.map(|record| phase.compare(Headline::metric(record.headline)));
        phase
    }
}

impl<'a> PhaseAnalysis<'a> {
    /// The phase as it was run: itself, or each point of its sweep.
    #[must_use]
    pub fn points(&self) -> &[PhaseAnalysis<'a>] {
        match &self.sweep {
            Some(sweep) => &sweep.points,
            None => std::slice::from_ref(self),
        }
    }

    /// Whether every figure of the phase is the only one that there can be: virtual time, and one
    /// repeat.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.is_virtual && self.cells.iter().all(|cell| cell.repeats.len() < 2)
    }

    /// How far the headline figure of a further perturbed run may lie from those that were made,
    /// as a share of it: [`fslab_stats::sensitivity`]. `None` where repeats are not perturbed, or
    /// fewer than three.
    #[must_use]
    pub fn sensitivity(&self, subject: usize) -> Option<f64> {
        let comparison = self.comparison.as_ref().filter(|_| self.is_perturbed)?;
        sensitivity(&comparison.entries.get(subject)?.values)
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
    fn of(name: &str, repeats: u32, trials: &Trials<'a>) -> Self {
        let recorded = trials.iter().map(|(trial, _)| trial.trial.repeat + 1);
        let repeats = (0..max(repeats, recorded.max().unwrap_or(0)))
            .map(|repeat| {
                let found = trials.iter().find(|(t, _)| t.trial.repeat == repeat);
                Repeat::of(name, repeat, found)
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

    /// The metric's values by trial, mount and iteration, of the trials that have one: what the
    /// variation of each level is estimated from.
    #[must_use]
    pub fn nested(&self, metric: &MetricDefinition) -> Vec<Vec<Vec<f64>>> {
        let trials = self.repeats.iter().map(|repeat| repeat.nested(metric));
        trials.filter(|trial| !trial.is_empty()).collect()
    }

    /// Every record of a phase that was run to its end: of each repeat, all its rounds.
    pub fn records(&self) -> impl Iterator<Item = &'a PhaseRecord> + '_ {
        self.repeats.iter().flat_map(|repeat| {
            let once = match repeat.state {
                RepeatState::Done(record) if repeat.rounds.is_empty() => Some(record),
                _ => None,
            };
            let rounds = repeat.rounds.iter().filter_map(|round| round.record);
            let done = rounds.filter(|record| record.outcome == PhaseOutcome::Done);
            once.into_iter().chain(done)
        })
    }

    /// The records of the repeats that are done, one each.
    pub fn done(&self) -> impl Iterator<Item = &'a PhaseRecord> + '_ {
        self.repeats.iter().filter_map(|repeat| match repeat.state {
            RepeatState::Done(record) => Some(record),
            _ => None,
        })
    }

    /// The latencies of all repeats and their rounds in one histogram; percentiles are never
    /// averaged.
    #[must_use]
    pub fn latency(&self) -> Option<LatencyHistogram> {
        let mut histograms = self.records().filter_map(PhaseRecord::latency);
        let mut merged = histograms.next()?;
        histograms.for_each(|histogram| merged.merge(&histogram));
        Some(merged)
    }

    /// What the simulated disk did, in the first repeat that knows: in virtual time that is the one
    /// without perturbation, where it was done.
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
        self.records()
            .filter_map(PhaseRecord::cache_verdict)
            .min_by_key(rank)
    }

    /// Why the cell has no figure at all, in one line; `None` where it has one.
    #[must_use]
    pub fn absence(&self) -> Option<String> {
        let mut reasons = self.repeats.iter().map(|repeat| repeat.state.reason());
        if self.repeats.iter().any(Repeat::has_figure) {
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
    fn of(name: &str, repeat: u32, found: Option<&(&'a TrialRecord, Index<'a>)>) -> Self {
        let records = found.and_then(|(_, phases)| phases.get(name));
        let records = records.map(Vec::as_slice).unwrap_or_default();
        let rounds = rounds(records);
        let (state, metrics) = match (together(&rounds), found) {
            (Some((typical, metrics)), _) => (RepeatState::Done(typical), metrics),
            (None, None) => (RepeatState::NotRun, Vec::new()),
            (None, Some((trial, _))) => match state(records.first().copied(), trial) {
                RepeatState::Done(record) => (RepeatState::Done(record), phase_metrics(record)),
                state => (state, Vec::new()),
            },
        };
        Self {
            repeat,
            trial: found.map(|(trial, _)| *trial),
            state,
            metrics,
            rounds,
        }
    }

    /// The metric's values by mount and iteration; empty where it was not measured.
    fn nested(&self, metric: &MetricDefinition) -> Vec<Vec<f64>> {
        if self.rounds.is_empty() {
            return self
                .value(metric)
                .map(|value| vec![value])
                .into_iter()
                .collect();
        }
        nested(&self.rounds, metric)
    }

    /// Whether it has figures, and was disturbed while any of them was measured.
    #[must_use]
    pub fn is_disturbed(&self) -> bool {
        let is_disturbed = |record: &PhaseRecord| !record.disturbances.is_empty();
        let rounds = self.rounds.iter().filter_map(|round| round.record);
        match self.state {
            RepeatState::Done(record) => {
                is_disturbed(record) || rounds.into_iter().any(is_disturbed)
            }
            _ => false,
        }
    }

    /// The metric's value; `None` where it was not measured.
    #[must_use]
    pub fn value(&self, metric: &MetricDefinition) -> Option<f64> {
        let found = self.metrics.iter().find(|found| found.definition == metric);
        found.map(|found| found.value)
    }

    /// Whether the phase ran to its end, of a sweep at all points or at enough to be judged by.
    fn has_figure(&self) -> bool {
        match self.state {
            RepeatState::Done(_) => true,
            RepeatState::Points { done, planned } => done == planned || !self.metrics.is_empty(),
            _ => false,
        }
    }
}

impl RepeatState<'_> {
    /// Why there is no figure, in one line; `None` where there is one, or nothing is known.
    #[must_use]
    pub fn reason(&self) -> Option<String> {
        match self {
            Self::Done(_) | Self::NotRun => None,
            Self::Points { done, planned } => Some(format!(
                "few points: {done} of {planned} were run to the end"
            )),
            Self::Skipped(reason) => Some(format!("skipped: {reason}")),
            Self::Failed(failure) => Some(format!("failed: {failure}")),
            Self::Lost(failure) => Some(format!("trial failed: {failure}")),
        }
    }
}

fn state<'a>(phase: Option<&'a PhaseRecord>, trial: &'a TrialRecord) -> RepeatState<'a> {
    match phase {
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
