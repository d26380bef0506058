//! A run as evidence for claims: maps the original's subjects to the run's, and gives the figures
//! of each by phase and point.
//!
//! The trials that count for means, deviations and sums are those without a failure, up to the
//! last phase that a claim names. What a study adds behind it is not of the original.

use std::collections::{BTreeMap, BTreeSet};

use fslab_model::{
    CellId, DISK_WORK_LEAST, MetricDefinition, PhaseOutcome, PhaseRecord, Plan, Point, PointValue,
    RunRecord, Subject, SubjectPlan, TrialOutcome, TrialRecord, VenuePlan, definitions as d,
    phase_metrics, trial_metrics,
};

use crate::missing::MissingReason;
use crate::printed_run::{PrintedFigures, PrintedRun};
use crate::{Claims, PointRange, Score, Timed};

/// The points of a sweep that count, by dimension.
pub(crate) type Ranges = BTreeMap<String, PointRange>;

/// A subject of the run that a claim names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) cell: CellId,
    /// Its name in the run.
    pub(crate) label: String,
    /// For a stand-in, the original's subject that it replaces.
    pub(crate) stands_for: Option<String>,
}

/// A figure of one phase of one trial.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Figure {
    /// In its base unit.
    pub(crate) value: f64,
    /// Whether the disk did not decide it: no measurable time passed, or the disk did less than
    /// half of the work at a point of a sweep.
    pub(crate) left_out: bool,
}

/// The phase's name in its study, and the point of its sweep.
pub(crate) type Place<'a> = (&'a str, Option<&'a Point>);

pub(crate) struct RepeatFigures<'a> {
    pub(crate) repeat: u32,
    pub(crate) figures: BTreeMap<Place<'a>, Figure>,
}

struct PhaseEvidence<'a> {
    record: &'a PhaseRecord,
    figures: Figures,
}

/// Where a phase's figures come from.
enum Figures {
    /// Its metrics, by name.
    Measured(Vec<(&'static str, f64)>),
    Printed(PrintedFigures),
}

struct TrialEvidence<'a> {
    trial: &'a TrialRecord,
    /// Whether nothing failed up to the last phase that a claim names. What a study adds behind it
    /// is not of the original.
    is_clean: bool,
    phases: Vec<PhaseEvidence<'a>>,
}

/// A run with the metrics of its phases.
pub(crate) struct Evidence<'a> {
    pub(crate) run: &'a RunRecord,
    /// Whether figures are exact: one repeat in virtual time.
    pub(crate) exact: bool,
    /// Share by which the interval of a ratio is widened: for repeats in virtual time, which may
    /// all be equal; else 0.
    pub(crate) resolution: f64,
    pub(crate) claims: &'a Claims,
    basis: Basis,
    /// Whether subjects are those with the defaults of the original's kernel, where the run has
    /// them.
    is_then: bool,
    trials: Vec<TrialEvidence<'a>>,
}

/// How the subjects of the original are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Basis {
    /// In one run, or their stand-ins.
    Run,
    /// In runs on their own platforms, which were joined; nothing stands in for them.
    Platforms,
    /// In the original itself, whose printed figures are exact.
    Printed,
}

impl<'a> Evidence<'a> {
    pub(crate) fn of(claims: &'a Claims, run: &'a RunRecord, basis: Basis) -> Self {
        let measured = |_: &TrialRecord, record: &PhaseRecord| {
            let metrics = phase_metrics(record);
            let metrics = metrics.iter().map(|m| (m.definition.name, m.value));
            Figures::Measured(metrics.collect())
        };
        Self::with_figures(claims, run, basis, &measured)
    }

    /// The same with the subjects that have today's defaults.
    pub(crate) fn with_todays_defaults(self) -> Self {
        Self {
            is_then: false,
            ..self
        }
    }

    /// An original's own figures.
    pub(crate) fn printed(claims: &'a Claims, printed: &'a PrintedRun) -> Self {
        let figures = |trial: &TrialRecord, record: &PhaseRecord| {
            Figures::Printed(printed.figures(&trial.subject, &record.name))
        };
        Self::with_figures(claims, &printed.record, Basis::Printed, &figures)
    }

    fn with_figures(
        claims: &'a Claims,
        run: &'a RunRecord,
        basis: Basis,
        figures: &dyn Fn(&TrialRecord, &PhaseRecord) -> Figures,
    ) -> Self {
        let plan = &run.header.plan;
        let last_named = last_named(claims, plan);
        let trial = |trial: &'a TrialRecord| TrialEvidence {
            trial,
            is_clean: is_done_until(trial, plan, last_named),
            phases: trial
                .phases
                .iter()
                .map(|record| PhaseEvidence {
                    record,
                    figures: figures(trial, record),
                })
                .collect(),
        };
        let is_virtual = plan.venue.kind().is_virtual();
        let repeats = plan.cells().map(|cell| run.cell(cell.id).count()).max();
        let exact = basis == Basis::Printed || (is_virtual && repeats.unwrap_or(0) < 2);
        Self {
            run,
            exact,
            resolution: match is_virtual && !exact {
                true => fslab_stats::RESOLUTION,
                false => 0.0,
            },
            claims,
            basis,
            is_then: basis == Basis::Run,
            trials: run.trials.iter().map(trial).collect(),
        }
    }

    /// Whether the figure is computed from all repeats of a phase, and not of each.
    pub(crate) fn is_over_repeats(&self, score: Score) -> bool {
        let is_one = matches!(
            score,
            Score::Deviation(_) | Score::RelativeDeviation(_) | Score::FailedPercent
        );
        is_one && self.basis != Basis::Printed
    }

    /// Whether it is the original itself.
    pub(crate) fn is_printed(&self) -> bool {
        self.basis == Basis::Printed
    }

    /// All subjects of the run that were neither aged nor filled beforehand; of one with the
    /// defaults of the original's kernel and one with today's, that which counts.
    pub(crate) fn fresh_members(&self) -> Vec<Member> {
        let names = self.claims.then.keys();
        let left_out: Vec<CellId> = names
            .filter_map(|name| self.defaults(name))
            .map(|(then, today)| if self.is_then { today } else { then })
            .collect();
        let cells = self.run.header.plan.cells();
        let fresh = cells.filter(|cell| cell.subject.subject.stages().is_empty());
        let counted = fresh.filter(|cell| !left_out.contains(&cell.id));
        counted.map(|cell| self.member_of(cell.id, None)).collect()
    }

    /// The original's `name` with the mount defaults of its kernel, and with today's; `None` if
    /// the run lacks one of them.
    pub(crate) fn defaults(&self, name: &str) -> Option<(CellId, CellId)> {
        let then = self.with_defaults_then(name)?;
        Some((then, self.plain(name, Some(then))?))
    }

    fn with_defaults_then(&self, name: &str) -> Option<CellId> {
        let then: Subject = self.claims.then.get(name)?.subject.parse().ok()?;
        let mut cells = self.run.header.plan.cells();
        let found = cells.find(|cell| cell.subject.subject == then);
        found.map(|cell| cell.id)
    }

    /// Whether a file system of the run was aged.
    pub(crate) fn has_aged(&self) -> bool {
        let mut cells = self.run.header.plan.cells();
        cells.any(|cell| is_aged(&cell.subject.subject))
    }

    /// The same file system with the same options, aged.
    pub(crate) fn aged(&self, member: &Member) -> Option<Member> {
        let plan = &self.run.header.plan;
        let fresh = &plan.subject(member.cell)?.subject;
        let is_it = |subject: &Subject| subject.without_stages() == *fresh && is_aged(subject);
        let cell = plan.cells().find(|cell| is_it(&cell.subject.subject))?;
        Some(self.member_of(cell.id, member.stands_for.as_deref()))
    }

    fn member_of(&self, cell: CellId, stands_for: Option<&str>) -> Member {
        let subjects = &self.run.header.plan.subjects;
        let subject = &subjects[cell.0 as usize].subject;
        let has_same_fs = |other: &&SubjectPlan| other.subject.fs() == subject.fs();
        let same_fs = subjects.iter().filter(has_same_fs).count();
        let label = match same_fs {
            1 => subject.fs().to_owned(),
            _ => subject.to_string(),
        };
        Member {
            cell,
            label,
            stands_for: stands_for.map(str::to_owned),
        }
    }

    /// The subject of the run that is the original's `name`, or its stand-in.
    pub(crate) fn member(&self, name: &str) -> Result<Member, MissingReason> {
        if let Some(cell) = self.cell_of(name) {
            return Ok(self.member_of(cell, None));
        }
        if let (Basis::Platforms, Some(platform)) = (self.basis, self.claims.platforms.get(name)) {
            let text = format!("no run on {platform} has the subject {name}");
            return Err(MissingReason::NotApplicable(text));
        }
        let Some(stand_in) = self.claims.stand_in.get(name) else {
            let text = format!("the run has no subject {name}");
            return Err(MissingReason::NotApplicable(text));
        };
        match self.cell_of(stand_in) {
            Some(cell) => Ok(self.member_of(cell, Some(name))),
            None => Err(MissingReason::NotApplicable(format!(
                "the run has neither the subject {name} nor its stand-in {stand_in}"
            ))),
        }
    }

    /// The subject with the defaults of the original's kernel; else the plain one.
    fn cell_of(&self, name: &str) -> Option<CellId> {
        match self.with_defaults_then(name) {
            Some(then) if self.is_then => Some(then),
            then => self.plain(name, then),
        }
    }

    /// The subject with exactly this text; else the first fresh one of that file system.
    fn plain(&self, name: &str, except: Option<CellId>) -> Option<CellId> {
        let cells = || {
            let cells = self.run.header.plan.cells();
            cells.filter(|cell| Some(cell.id) != except)
        };
        let is_it = |subject: &Subject| subject.fs() == name && subject.stages().is_empty();
        let written = cells().find(|cell| cell.subject.subject.to_string() == name);
        let found = written.or_else(|| cells().find(|cell| is_it(&cell.subject.subject)));
        found.map(|cell| cell.id)
    }

    /// The simulated disk of the run; `None` in other venues.
    pub(crate) fn disk(&self) -> Option<&str> {
        match &self.run.header.plan.venue {
            VenuePlan::Sim { disk, .. } => Some(&disk.profile),
            _ => None,
        }
    }

    fn trials_of(&self, member: &Member) -> impl Iterator<Item = &TrialEvidence<'a>> {
        let cell = member.cell;
        self.trials
            .iter()
            .filter(move |it| it.trial.trial.cell == cell)
    }

    /// The records of a subject's phase, by trial.
    pub(crate) fn records(
        &self,
        member: &Member,
        phase: &str,
    ) -> Vec<(&'a TrialRecord, Vec<&'a PhaseRecord>)> {
        let is_of_phase = |record: &&PhaseRecord| record.study_phase() == phase;
        self.trials_of(member)
            .map(|it| {
                (
                    it.trial,
                    it.trial.phases.iter().filter(is_of_phase).collect(),
                )
            })
            .collect()
    }

    /// Whether the phase ran within the ranges, and its figure counts.
    pub(crate) fn counts_at(&self, record: &PhaseRecord, ranges: &Ranges) -> bool {
        let is_done = record.outcome == PhaseOutcome::Done;
        let mut within = ranges
            .iter()
            .map(|(name, range)| is_at(record, name, range));
        is_done && within.all(|it| it) && !is_left_out(record)
    }

    /// The figures of a subject's phases, by repeat. Only the repeats with the most figures count,
    /// so that an incomplete repeat does not reduce the others to its points.
    pub(crate) fn figures(
        &self,
        member: &Member,
        phases: &[String],
        ranges: &Ranges,
        score: Score,
    ) -> Result<Vec<RepeatFigures<'a>>, MissingReason> {
        let mut repeats = Vec::new();
        for it in self.trials_of(member) {
            if score.needs_clean_trials() && !it.is_clean {
                continue;
            }
            let mut figures = BTreeMap::new();
            for phase in &it.phases {
                let record = phase.record;
                if !phases.iter().any(|name| name == record.study_phase())
                    || !ranges
                        .iter()
                        .all(|(name, range)| is_at(record, name, range))
                {
                    continue;
                }
                if let Some(figure) = figure(phase, score) {
                    let point = record.swept.as_ref().map(|swept| &swept.point);
                    figures.insert((record.study_phase(), point), figure);
                }
            }
            repeats.push(RepeatFigures {
                repeat: it.trial.trial.repeat,
                figures,
            });
        }
        let most = repeats
            .iter()
            .map(|repeat| repeat.figures.len())
            .max()
            .unwrap_or(0);
        repeats.retain(|repeat| repeat.figures.len() == most);
        for phase in phases {
            let has = |repeat: &RepeatFigures<'_>| repeat.figures.keys().any(|(p, _)| p == phase);
            if repeats.is_empty() || !repeats.iter().all(has) {
                return Err(self.why_missing(member, phase, ranges, score).into());
            }
        }
        Ok(repeats)
    }

    /// The times of mkfs, by repeat.
    pub(crate) fn mkfs_times(&self, member: &Member) -> Vec<RepeatFigures<'a>> {
        let of_trial = |it: &TrialEvidence<'a>| {
            let metrics = trial_metrics(it.trial);
            let mkfs = metrics.iter().find(|m| m.definition == &d::MKFS)?;
            let figure = Figure {
                value: mkfs.value,
                left_out: false,
            };
            Some(RepeatFigures {
                repeat: it.trial.trial.repeat,
                figures: BTreeMap::from([(("mkfs", None), figure)]),
            })
        };
        self.trials_of(member).filter_map(of_trial).collect()
    }

    /// Whether the run's plan has a phase of that name in the study.
    pub(crate) fn has_phase(&self, phase: &str) -> bool {
        let mut specs = self.run.header.plan.phases.iter();
        specs.any(|spec| spec.study_phase() == phase)
    }

    fn why_missing(&self, member: &Member, phase: &str, ranges: &Ranges, score: Score) -> String {
        let label = &member.label;
        if self.is_printed() {
            let ranges = ranges
                .iter()
                .map(|(name, range)| format!(" at {name} {range}"));
            let (what, ranges) = (score.name(), ranges.collect::<String>());
            return format!("the original prints no {what} of {label} in '{phase}'{ranges}");
        }
        if !self.has_phase(phase) {
            return format!("the run has no phase '{phase}'");
        }
        let trials = self.records(member, phase);
        if trials.is_empty() {
            return format!("{label} has no trial");
        }
        let records: Vec<_> = trials.iter().flat_map(|(_, records)| records).collect();
        let outcome = |record: &&&PhaseRecord| match &record.outcome {
            PhaseOutcome::Done => None,
            PhaseOutcome::Failed { failure } => {
                Some(format!("{label} failed in '{phase}': {failure}"))
            }
            PhaseOutcome::Skipped { reason } => {
                Some(format!("'{phase}' was skipped for {label}: {reason}"))
            }
        };
        let done = records
            .iter()
            .any(|record| record.outcome == PhaseOutcome::Done);
        if !done {
            let failure = trials.iter().find_map(|(trial, _)| match &trial.outcome {
                TrialOutcome::Failed { failure } => Some(format!("{label} failed: {failure}")),
                TrialOutcome::Done => None,
            });
            let outcome = records.iter().find_map(outcome).or(failure);
            return outcome.unwrap_or_else(|| format!("{label} did not reach '{phase}'"));
        }
        let within = |record: &&&PhaseRecord| {
            ranges
                .iter()
                .all(|(name, range)| is_at(record, name, range))
        };
        if !records.iter().any(within) {
            let wanted = ranges.iter().map(|(name, range)| format!("{name} {range}"));
            let wanted: Vec<_> = wanted.collect();
            return format!("'{phase}' did not run at {}", wanted.join(", "));
        }
        if score.needs_clean_trials() && !self.trials_of(member).any(|it| it.is_clean) {
            return format!("no repeat of {label} completed without a failure");
        }
        format!("'{phase}' of {label} has no figure '{}'", score.name())
    }
}

fn is_aged(subject: &Subject) -> bool {
    subject.stages().iter().any(|stage| stage.name() == "age")
}

/// Whether the phase ran at a value of `range`, by its sweep or else by its parameters.
fn is_at(record: &PhaseRecord, dimension: &str, range: &PointRange) -> bool {
    let point = record
        .swept
        .as_ref()
        .and_then(|swept| swept.point.get(dimension));
    if let Some(value) = point {
        return range.contains(*value);
    }
    let Some(parameter) = record.parameters.get(dimension) else {
        return false;
    };
    let in_bytes = matches!(range.from.or(range.to), Some(PointValue::Bytes(_)));
    let value = match (parameter.as_u64(), parameter.as_str()) {
        (Some(number), _) if in_bytes => Some(PointValue::Bytes(number)),
        (Some(number), _) => Some(PointValue::Count(number)),
        (None, Some(text)) => crate::range::read_value(text),
        (None, None) => None,
    };
    value.is_some_and(|value| range.contains(value))
}

/// Whether the disk did not decide the figure: the phase took no measurable time, or is a point of
/// a sweep at which the disk did less than half of the work.
fn is_left_out(record: &PhaseRecord) -> bool {
    let is_point_of_memory =
        || record.swept.is_some() && record.disk_work().is_some_and(|it| it < DISK_WORK_LEAST);
    record.took_no_device_time() || is_point_of_memory()
}

fn figure(phase: &PhaseEvidence<'_>, score: Score) -> Option<Figure> {
    let record = phase.record;
    if record.outcome != PhaseOutcome::Done {
        return None;
    }
    let metrics = match &phase.figures {
        Figures::Measured(metrics) => metrics,
        Figures::Printed(figures) => {
            return figures.get(score).map(|value| Figure {
                value,
                left_out: false,
            });
        }
    };
    let left_out = is_left_out(record);
    let metric = |name: &str| metrics.iter().find(|(n, _)| *n == name).map(|(_, v)| *v);
    let timed = |part: Timed| match part {
        Timed::Run => Some(Figure {
            value: metric("elapsed_ns")?,
            left_out,
        }),
        Timed::Unmount => Some(Figure {
            value: metric("settle_sync_ns")? + metric("settle_unmount_ns")?,
            left_out: false,
        }),
        Timed::Total => Some(Figure {
            value: metric("total_ns")?,
            left_out: false,
        }),
    };
    let rate = |definition: &MetricDefinition| match metric(definition.name) {
        Some(value) => Some(Figure { value, left_out }),
        // A phase that moves no data has no throughput.
        None if definition == &d::THROUGHPUT && record.bytes.is_none() => None,
        None => record.took_no_device_time().then_some(Figure {
            value: f64::INFINITY,
            left_out,
        }),
    };
    match score {
        Score::Headline => rate(record.headline.metric()),
        Score::Metric(definition) if [&d::THROUGHPUT, &d::OPERATION_RATE].contains(&definition) => {
            rate(definition)
        }
        Score::Metric(definition) => metric(definition.name).map(|value| Figure {
            value,
            left_out: left_out && definition.name == d::ELAPSED.name,
        }),
        Score::Clean(part)
        | Score::Sum(part)
        | Score::Deviation(part)
        | Score::RelativeDeviation(part) => timed(part),
        Score::CpuPercent => metric("cpu_share").map(|share| Figure {
            value: share * 100.0,
            left_out: false,
        }),
        Score::FailedPercent | Score::List(_) => None,
    }
}

/// The position in the plan of the last phase that a claim names.
pub(crate) fn last_named(claims: &Claims, plan: &Plan) -> Option<usize> {
    let named: BTreeSet<&str> = claims
        .claims
        .iter()
        .flat_map(|claim| claim.holds.kind.phases())
        .collect();
    plan.phases
        .iter()
        .rposition(|spec| named.contains(spec.study_phase()))
}

/// Whether the trial has no failure, or only in phases behind `last`.
pub(crate) fn is_done_until(trial: &TrialRecord, plan: &Plan, last: Option<usize>) -> bool {
    if trial.outcome == TrialOutcome::Done {
        return true;
    }
    let position = |record: &PhaseRecord| {
        let mut specs = plan.phases.iter();
        specs.position(|spec| spec.name == record.name)
    };
    let mut failed = trial
        .phases
        .iter()
        .filter(|record| matches!(record.outcome, PhaseOutcome::Failed { .. }))
        .peekable();
    failed.peek().is_some() && failed.all(|record| position(record) > last)
}
