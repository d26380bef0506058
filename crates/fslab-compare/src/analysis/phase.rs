//! One phase over all subjects and repeats.
//!
//! Of some phases the durability is not real: they asked for it, and the disk was not flushed.

use std::collections::{BTreeMap, BTreeSet};

use fslab_model::{
    CachePolicy, CacheVerdict, DeviceInsight, Failure, Headline, LatencyHistogram, Metric,
    MetricDefinition, Parameters, PhaseKind, PhaseOutcome, PhaseRecord, Point, RunRecord, Swept,
    TrialOutcome, TrialRecord, VenuePlan, phase_metrics,
};
use fslab_stats::sensitivity;

use super::rounds::{RepeatRound, nested, rounds, together};
use super::{Comparison, SweepAnalysis, sweep};

/// The result of a phase in one repeat.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RepeatState<'a> {
    /// It completed; of several rounds at least one did, and this is the record nearest to their
    /// mean.
    Done(&'a PhaseRecord),
    /// It completed, but the page cache served its O_DIRECT, while another subject's reached its
    /// device: its figure does not measure direct I/O.
    Buffered(&'a PhaseRecord),
    /// Not run, for a reason known beforehand.
    Skipped(&'a str),
    Failed(&'a Failure),
    /// Its trial failed before the phase.
    Lost(&'a Failure),
    /// There is no record: the run was stopped before this trial, or the trial did not report the
    /// phase.
    NotRun,
    /// It is a sweep, and completed at some of its points.
    Points {
        /// The completed points.
        done: usize,
        /// All points.
        planned: usize,
    },
}

/// The reason of [`RepeatState::Buffered`].
const BUFFERED: &str = "buffered: the page cache served its O_DIRECT, and not the other subjects'";

/// One repeat of a phase for one subject.
#[derive(Clone, Debug)]
pub struct Repeat<'a> {
    /// The repeat, from 0.
    pub repeat: u32,
    /// Its trial; `None` without a record.
    pub trial: Option<&'a TrialRecord>,
    /// The result of the phase.
    pub state: RepeatState<'a>,
    /// Its figures; empty unless done. Of several rounds their mean, and percentiles of their
    /// joined latencies.
    pub metrics: Vec<Metric>,
    /// Every round of the phase in that trial, with any result, in order; empty if the phases run
    /// once.
    pub rounds: Vec<RepeatRound<'a>>,
}

/// One phase of one subject: all its repeats.
#[derive(Clone, Debug)]
pub struct PhaseCell<'a> {
    /// As many as the plan has, and any beyond.
    pub repeats: Vec<Repeat<'a>>,
}

/// One phase over all subjects.
#[derive(Clone, Debug)]
pub struct PhaseAnalysis<'a> {
    /// Its name in the study.
    pub name: &'a str,
    pub workload: &'a str,
    /// The cache policy.
    pub cache: CachePolicy,
    /// All parameters of the workload.
    pub parameters: &'a Parameters,
    /// Its kind; `None` if no trial recorded the phase.
    pub kind: Option<PhaseKind>,
    /// One per subject, in the order of the plan.
    pub cells: Vec<PhaseCell<'a>>,
    /// The comparison by the headline metric; `None` if no trial recorded the phase.
    pub comparison: Option<Comparison>,
    /// True if its times are virtual.
    pub is_virtual: bool,
    /// True if its repeats differ only by a perturbation of their guest.
    pub is_perturbed: bool,
    /// Whether its disk has a volatile cache.
    pub(super) disk_cache: DiskCache,
    /// Its point in a sweep; `None` for a phase that runs once, and for a sweep.
    pub point: Option<&'a Point>,
    /// The points of a sweep; then `cells` and `comparison` are of their geometric means.
    pub sweep: Option<SweepAnalysis<'a>>,
}

/// The phases of a trial by name, with all rounds; a sweep has thousands.
type Index<'a> = BTreeMap<&'a str, Vec<&'a PhaseRecord>>;

/// A subject's trials, each with its phases.
struct Trials<'a> {
    /// Repeats of the subject, those without a record included.
    repeats: u32,
    recorded: Vec<(&'a TrialRecord, Index<'a>)>,
}

/// The phases of `run`: those of the plan in its order, then any others that trials recorded. The
/// points of a sweep are joined at the place of the first.
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
    let repeats = run.header.plan.cells().map(|cell| run.repeats(cell.id));
    let cells: Vec<Trials> = repeats
        .zip(cells)
        .map(|(repeats, trials)| Trials {
            repeats,
            recorded: index(trials),
        })
        .collect();
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

fn index<'a>(trials: &[&'a TrialRecord]) -> Vec<(&'a TrialRecord, Index<'a>)> {
    let of = |trial: &&'a TrialRecord| {
        let mut phases = Index::new();
        for phase in &trial.phases {
            let known = phases.entry(&phase.name).or_default();
            // Of two records of one name and round the first counts.
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
        let found = cells
            .iter()
            .flat_map(|trials| &trials.recorded)
            .find_map(|(_, phases)| phases.get(self.name)?.first().copied());
        let cells = cells
            .iter()
            .map(|trials| PhaseCell::of(self.name, trials))
            .collect();
        let mut cells: Vec<PhaseCell> = cells;
        if self.parameters.get("direct") == Some(&true.into()) {
            set_buffered_apart(&mut cells);
        }
        let mut phase = PhaseAnalysis {
            name: self.name,
            workload: self.workload,
            cache: self.cache,
            parameters: self.parameters,
            kind: found.map(|phase| phase.kind),
            cells,
            comparison: None,
            is_virtual: run.header.plan.venue.kind().is_virtual(),
            is_perturbed: run.header.plan.perturb,
            disk_cache: DiskCache::of(run),
            point: self.swept.map(|swept| &swept.point),
            sweep: None,
        };
        phase.comparison = found.map(|record| phase.compare(Headline::metric(record.headline)));
        phase
    }
}

/// Takes the figures of subjects whose O_DIRECT the page cache served out of the comparison, if
/// another subject's reached its device.
fn set_buffered_apart(cells: &mut [PhaseCell]) {
    let moved: Vec<Option<bool>> = cells.iter().map(PhaseCell::reached_device).collect();
    if !moved.contains(&Some(true)) {
        return;
    }
    let buffered = cells.iter_mut().zip(moved);
    for (cell, _) in buffered.filter(|(_, moved)| *moved == Some(false)) {
        for repeat in &mut cell.repeats {
            if let RepeatState::Done(record) = repeat.state {
                repeat.state = RepeatState::Buffered(record);
            }
        }
    }
}

impl<'a> PhaseAnalysis<'a> {
    /// Itself, or each point of its sweep.
    pub fn points(&self) -> &[PhaseAnalysis<'a>] {
        match &self.sweep {
            Some(sweep) => &sweep.points,
            None => std::slice::from_ref(self),
        }
    }

    /// True if the figures have no variation: virtual time and one repeat.
    pub fn is_exact(&self) -> bool {
        self.is_virtual && self.cells.iter().all(|cell| cell.repeats.len() < 2)
    }

    /// The sensitivity of the headline figure to perturbation, as a share of it:
    /// [`fslab_stats::sensitivity`]. `None` if repeats are not perturbed, or fewer than three.
    pub fn sensitivity(&self, subject: usize) -> Option<f64> {
        let comparison = self.comparison.as_ref().filter(|_| self.is_perturbed)?;
        sensitivity(&comparison.entries.get(subject)?.values)
    }

    /// Compares the subjects by any metric of a phase.
    pub fn compare(&self, metric: &'static MetricDefinition) -> Comparison {
        let samples = self.cells.iter().map(|cell| cell.values(metric)).collect();
        Comparison::timed(metric, samples, self.is_virtual)
    }
}

impl<'a> PhaseCell<'a> {
    fn of(name: &str, trials: &Trials<'a>) -> Self {
        let repeats = (0..trials.repeats)
            .map(|repeat| {
                let mut recorded = trials.recorded.iter();
                let found = recorded.find(|(t, _)| t.trial.repeat == repeat);
                Repeat::of(name, repeat, found)
            })
            .collect();
        Self { repeats }
    }

    /// The metric's value in each repeat that has one.
    pub fn values(&self, metric: &MetricDefinition) -> Vec<f64> {
        self.repeats
            .iter()
            .filter_map(|repeat| repeat.value(metric))
            .collect()
    }

    /// The metric's values by trial, mount and iteration, for the variance components of each
    /// level.
    pub fn nested(&self, metric: &MetricDefinition) -> Vec<Vec<Vec<f64>>> {
        let trials = self.repeats.iter().map(|repeat| repeat.nested(metric));
        trials.filter(|trial| !trial.is_empty()).collect()
    }

    /// Every record of a completed phase: all rounds of each repeat.
    pub fn records(&self) -> impl Iterator<Item = &'a PhaseRecord> + '_ {
        self.repeats.iter().flat_map(Repeat::records)
    }

    /// The record of each completed repeat.
    pub fn done(&self) -> impl Iterator<Item = &'a PhaseRecord> + '_ {
        self.repeats.iter().filter_map(|repeat| match repeat.state {
            RepeatState::Done(record) => Some(record),
            _ => None,
        })
    }

    /// The latencies of all repeats and rounds in one histogram; percentiles are never averaged.
    pub fn latency(&self) -> Option<LatencyHistogram> {
        let mut histograms = self.records().filter_map(PhaseRecord::latency);
        let mut merged = histograms.next()?;
        histograms.for_each(|histogram| merged.merge(&histogram));
        Some(merged)
    }

    /// The simulated disk's requests in the first repeat that has them; in virtual time that is the
    /// unperturbed one if it completed.
    pub fn insight(&self) -> Option<&'a DeviceInsight> {
        self.done().find_map(|record| record.insight.as_ref())
    }

    /// The cache verdict of the repeat with the least I/O on the device: a single repeat from the
    /// page cache is worth a warning.
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

    /// Whether a device moved the data of its O_DIRECT; `None` without data.
    fn reached_device(&self) -> Option<bool> {
        let records = self.records().filter(|record| record.bytes > Some(0));
        let verdicts = records.map(|record| match record.device {
            None => Some(CacheVerdict::Cache),
            Some(_) => record.cache_verdict(),
        });
        let verdicts: Vec<CacheVerdict> = verdicts.flatten().collect();
        (!verdicts.is_empty()).then(|| !verdicts.contains(&CacheVerdict::Cache))
    }

    /// Why the cell has no figure, in one line; `None` if it has one.
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

    /// The record of each completed round.
    pub fn records(&self) -> impl Iterator<Item = &'a PhaseRecord> + '_ {
        let once = match self.state {
            RepeatState::Done(record) if self.rounds.is_empty() => Some(record),
            _ => None,
        };
        let rounds = self.rounds.iter().filter_map(|round| round.record);
        let done = rounds.filter(|record| record.outcome == PhaseOutcome::Done);
        once.into_iter().chain(done)
    }

    /// The metric's values by mount and iteration; empty if not measured.
    fn nested(&self, metric: &MetricDefinition) -> Vec<Vec<f64>> {
        if matches!(self.state, RepeatState::Buffered(_)) {
            return Vec::new();
        }
        if self.rounds.is_empty() {
            return self
                .value(metric)
                .map(|value| vec![value])
                .into_iter()
                .collect();
        }
        nested(&self.rounds, metric)
    }

    /// True if it has figures, and was disturbed while any of them was measured.
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

    /// The metric's value; `None` if not measured, or not comparable.
    pub fn value(&self, metric: &MetricDefinition) -> Option<f64> {
        if matches!(self.state, RepeatState::Buffered(_)) {
            return None;
        }
        let found = self.metrics.iter().find(|found| found.definition == metric);
        found.map(|found| found.value)
    }

    /// Why it was not measured in full, in one line; `None` if it was, or the reason is unknown.
    pub(crate) fn shortfall(&self) -> Option<String> {
        match self.state {
            RepeatState::Points { done, planned } if done == planned && self.has_metrics() => None,
            _ => self.state.reason(),
        }
    }

    fn has_metrics(&self) -> bool {
        !self.metrics.is_empty()
    }

    /// True if the phase completed; of a sweep, at all points or at enough of them.
    fn has_figure(&self) -> bool {
        match self.state {
            RepeatState::Done(_) => true,
            RepeatState::Points { done, planned } => done == planned || self.has_metrics(),
            _ => false,
        }
    }
}

impl RepeatState<'_> {
    /// Why there is no figure, in one line; `None` if there is one, or the reason is unknown.
    pub fn reason(&self) -> Option<String> {
        match self {
            Self::Done(_) | Self::NotRun => None,
            Self::Points { done, planned } if done == planned => {
                Some("few points took a measurable time".to_owned())
            }
            Self::Points { done, planned } => Some(format!(
                "few points: {done} of {planned} were run to the end"
            )),
            Self::Buffered(_) => Some(BUFFERED.to_owned()),
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

impl PhaseCell<'_> {
    /// Records in which the disk was not flushed for what was to be durable.
    pub fn unflushed(&self) -> usize {
        self.records()
            .filter(|record| PhaseRecord::is_unflushed(record))
            .count()
    }
}

impl PhaseAnalysis<'_> {
    /// True if the subject made data durable in this phase, in any repeat or at any point of a
    /// sweep, without a flush of the disk, whose cache is volatile: a power loss may take what was
    /// durable. Of a real disk it is known to be volatile, or taken for it by the kernel, if
    /// another subject's syncs sent a flush.
    pub fn does_not_flush(&self, subject: usize) -> bool {
        let points = self.points().iter();
        let mut cells = points.filter_map(|point| point.cells.get(subject));
        match self.disk_cache {
            DiskCache::Volatile => cells.any(|cell| cell.unflushed() > 0),
            DiskCache::Durable => false,
            DiskCache::Unknown => self.sends_no_flush(subject),
        }
    }

    /// True if the subject's syncs in the phase sent no flush to the disk, while another subject's
    /// did.
    pub(crate) fn sends_no_flush(&self, subject: usize) -> bool {
        let flushes = |subject: usize| {
            let points = self.points().iter();
            let cells = points.filter_map(|point| point.cells.get(subject));
            let synced = cells.flat_map(|cell| cell.records().filter(|record| record.has_synced()));
            synced.map(durable_requests).collect::<Option<Vec<u64>>>()
        };
        let is_none = |subject: usize| {
            let flushes = flushes(subject);
            flushes.is_some_and(|it| !it.is_empty() && it.iter().all(|count| *count == 0))
        };
        let has_any = |subject: usize| {
            let flushes = flushes(subject);
            flushes.is_some_and(|it| it.iter().any(|count| *count > 0))
        };
        is_none(subject) && (0..self.cells.len()).any(has_any)
    }

    /// The subjects that do not flush in this phase, in the order of the plan.
    pub fn not_flushing(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.cells.len()).filter(|subject| self.does_not_flush(*subject))
    }
}

/// Flushes, and writes past the disk's cache; `None` if they were not counted.
fn durable_requests(record: &PhaseRecord) -> Option<u64> {
    let forced = record
        .insight
        .as_ref()
        .map_or(0, |it| it.fua_writes.requests);
    Some(record.device?.flushes? + forced)
}

/// What the disk of a run loses at a power loss of what it was not asked to keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DiskCache {
    /// All of it: a simulated disk with such a cache.
    Volatile,
    /// Nothing: a simulated disk without one.
    Durable,
    /// Another disk.
    Unknown,
}

impl DiskCache {
    pub(super) fn of(run: &RunRecord) -> Self {
        match &run.header.plan.venue {
            VenuePlan::Sim { disk, .. } if disk.queue.write_cache => Self::Volatile,
            VenuePlan::Sim { .. } => Self::Durable,
            _ => Self::Unknown,
        }
    }
}
