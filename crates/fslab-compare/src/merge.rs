//! Joining runs: subjects of several runs become the subjects of one.
//!
//! A comparison across machines ([`merge`]) takes every subject of each run. It waives dimensions
//! by name: it lists the differences, and refuses runs with other phases, another scale, or virtual
//! against real time. A report of runs that share phases ([`merge_gathered`]) takes them all, too,
//! with their other phases; a subject of several runs is one for each. A diff ([`merge_pair`])
//! takes one subject of each run, those of the base first, and leaves out phases that are defined
//! differently.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use fslab_model::{
    CellId, Failure, FailureKind, LabPlan, PhaseSpec, RunHeader, RunRecord, Subject, SubjectPlan,
};

use crate::dimension::{is_imported, phase_difference, question_difference};
use crate::dimension_value::Values;
use crate::pairing::{Pair, subjects};
use crate::scaling::differ_in_ranks;
use crate::{Dimension, wording};

/// Several runs as one.
#[derive(Clone, Debug, PartialEq)]
pub struct Merged {
    /// The subjects of all runs, with the header of the first.
    pub run: RunRecord,
    /// The other differences of the runs, as sentences.
    pub differences: Vec<String>,
    /// True if its subjects have the names of their runs.
    pub is_renamed: bool,
}

/// Why runs cannot be joined, or a subject renamed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MergeError {
    /// Fewer than two runs.
    #[error("a comparison across machines needs two runs or more")]
    TooFew,
    /// They have different questions: phases, scale, or kind of time.
    #[error("{first} and {other} differ in {what}, and no waiver makes that comparable")]
    Question {
        /// The first run.
        first: String,
        /// The one that differs.
        other: String,
        /// The difference.
        what: String,
    },
    /// Two subjects have the same name.
    #[error("{first} and {other} both have the subject {subject}")]
    DuplicateSubject {
        /// The run that had it first.
        first: String,
        /// The other run that has it.
        other: String,
        subject: String,
    },
    /// A run with several subjects cannot have one label.
    #[error("{run} has {count} subjects, and a label is for a run that has one")]
    Several {
        run: String,
        /// The number of its subjects.
        count: usize,
    },
}

impl From<MergeError> for Failure {
    fn from(error: MergeError) -> Self {
        let hint = match &error {
            MergeError::TooFew => "name at least two runs",
            MergeError::Question { .. } => "run the same study at the same scale on each machine",
            MergeError::DuplicateSubject { .. } => "rename one with --label RUN=SUBJECT",
            MergeError::Several { .. } => "label runs of one subject each",
        };
        Self::of_error(FailureKind::BadInput, &error).hint(hint)
    }
}

/// Renames the one subject of `run`: what is mounted in a run of the venue `dir` is known to its
/// user only.
pub fn relabel(run: &mut RunRecord, label: &Subject) -> Result<(), MergeError> {
    let [planned] = run.header.plan.subjects.as_mut_slice() else {
        return Err(MergeError::Several {
            run: run.header.run.to_string(),
            count: run.header.plan.subjects.len(),
        });
    };
    planned.subject = label.clone();
    for trial in &mut run.trials {
        trial.subject = label.clone();
    }
    Ok(())
}

/// Joins `runs` in their order.
pub fn merge(runs: &[RunRecord]) -> Result<Merged, MergeError> {
    let [first, others @ ..] = runs else {
        return Err(MergeError::TooFew);
    };
    if others.is_empty() {
        return Err(MergeError::TooFew);
    }
    for (known, other) in others.iter().enumerate() {
        if let Some(what) = question_difference(&first.header.plan, &other.header.plan) {
            return Err(MergeError::Question {
                first: first.header.run.to_string(),
                other: other.header.run.to_string(),
                what: what.to_owned(),
            });
        }
        ensure_distinct_subjects(&runs[..=known], other)?;
    }
    let sources = runs.iter().flat_map(sources).collect::<Vec<_>>();
    Ok(Merged {
        run: join(first.header.clone(), &sources),
        differences: differences(
            runs,
            format!(
                "These are {} runs, {}, compared across machines: that all but the subject is \
                 alike was waived, and a difference may be one of the machines.",
                runs.len(),
                wording::list(&wording::run_names(runs))
            ),
        ),
        is_renamed: false,
    })
}

/// Every subject of a run.
fn sources(run: &RunRecord) -> impl Iterator<Item = Source<'_>> {
    let planned = run.header.plan.subjects.iter().enumerate();
    planned.map(move |(place, planned)| Source {
        run,
        place,
        planned: planned.clone(),
    })
}

/// Joins runs with the names of phases that they share, in their order. Each subject of runs that
/// have one in common, or are of several tools, gets the name of its run added, or its number of
/// ranks if that differs; see [`Merged::is_renamed`].
pub fn merge_gathered(runs: &[RunRecord]) -> Merged {
    let mut runs = runs.to_vec();
    let mut known: BTreeSet<String> = BTreeSet::new();
    let has_twins = !runs
        .iter()
        .flat_map(subjects)
        .all(|subject| known.insert(subject.to_string()));
    let has_import = runs.iter().any(|run| is_imported(&run.header.plan));
    let is_renamed = has_twins || has_import;
    if is_renamed {
        let by_ranks = differ_in_ranks(&runs);
        runs.iter_mut()
            .for_each(|run| name_subjects_by_run(run, by_ranks));
    }
    let sources = runs.iter().flat_map(sources).collect::<Vec<_>>();
    // A header of fslab says more than that of an import.
    let of_fslab = runs.iter().find(|run| !is_imported(&run.header.plan));
    let mut header = of_fslab.unwrap_or(&runs[0]).header.clone();
    let others = match wording::run_names(&runs).as_slice() {
        [first, second] => format!("{first}-with-{second}"),
        several => format!("{}-and-{}-more", several[0], several.len() - 1),
    };
    // Chapters of single runs have their names.
    if let Ok(name) = others.parse() {
        header.run = name;
    }
    Merged {
        run: join(header, &sources),
        differences: differences(
            &runs,
            format!(
                "These are {} runs, {}, compared in what they share. Each run is of a machine in                  one state: how much runs differ where nothing has changed is not in the intervals.",
                runs.len(),
                wording::list(&wording::run_names(&runs))
            ),
        ),
        is_renamed,
    }
}

/// Adds the name of the run to each of its subjects, or its number of ranks.
fn name_subjects_by_run(run: &mut RunRecord, by_ranks: bool) {
    let owner = match (by_ranks, run.header.plan.ranks) {
        (false, _) => run.header.run.to_string(),
        (true, 1) => "1 rank".to_owned(),
        (true, ranks) => format!("{ranks} ranks"),
    };
    let named = |subject: &Subject| Subject::plain(format!("{subject} ({owner})"));
    for planned in &mut run.header.plan.subjects {
        planned.subject = named(&planned.subject);
    }
    for trial in &mut run.trials {
        trial.subject = named(&trial.subject);
    }
}

/// Refuses a subject of `other` that one of `before` already has.
fn ensure_distinct_subjects(before: &[RunRecord], other: &RunRecord) -> Result<(), MergeError> {
    for subject in subjects(other) {
        let has = |run: &&RunRecord| subjects(run).any(|known| known == subject);
        if let Some(owner) = before.iter().find(has) {
            return Err(MergeError::DuplicateSubject {
                first: owner.header.run.to_string(),
                other: other.header.run.to_string(),
                subject: subject.to_string(),
            });
        }
    }
    Ok(())
}

/// The subjects' indexes in a [`PairedRun`], by side.
#[derive(Clone, Debug)]
pub(crate) struct SideRanges {
    pub(crate) base: Range<usize>,
    pub(crate) new: Range<usize>,
}

/// The runs of a pair of subjects as one, with a subject for each run of either side.
pub(crate) struct PairedRun {
    pub(crate) run: RunRecord,
    pub(crate) sides: SideRanges,
    /// Phases of one name that are defined differently, with the difference; not in the run.
    pub(crate) others: Vec<(String, String)>,
}

/// Joins one subject of each run of both sides; neither side may be empty.
pub(crate) fn merge_pair(base: &[RunRecord], new: &[RunRecord], pair: Pair) -> PairedRun {
    let (first, last) = (&base[0], &new[0]);
    let fallback = first.header.plan.subjects.get(pair.base);
    let sides = [(base, pair.base), (new, pair.new)].into_iter();
    let places = sides.flat_map(|(runs, place)| side_places(runs, place));
    let sources = places.filter_map(|(run, place)| {
        // A run without the subject keeps its place, which stays empty.
        let planned = run.header.plan.subjects.get(place).or(fallback)?.clone();
        Some(Source {
            run,
            place,
            planned,
        })
    });
    let mut run = join(last.header.clone(), &sources.collect::<Vec<_>>());
    let others = unlike_phases(last, base.iter().chain(&new[1..]));
    let is_compared = |name: &str| others.iter().all(|(other, _)| other != name);
    let phases = &mut run.header.plan.phases;
    phases.retain(|phase| is_compared(&phase.name));
    for trial in &mut run.trials {
        trial.phases.retain(|phase| is_compared(&phase.name));
    }
    PairedRun {
        run,
        sides: SideRanges {
            base: 0..base.len(),
            new: base.len()..base.len() + new.len(),
        },
        others,
    }
}

/// A subject of a run, by index.
struct Source<'a> {
    run: &'a RunRecord,
    /// The number of the run's subjects if it lacks this one.
    place: usize,
    planned: SubjectPlan,
}

impl Source<'_> {
    /// The subject for a plan whose venue has that lab: with its own lab if it is another one.
    fn with_lab(&self, of_plan: Option<&LabPlan>) -> SubjectPlan {
        let mut planned = self.planned.clone();
        let of_run = self.run.header.plan.venue.guest_lab();
        if planned.lab.is_none() && of_run.as_ref() != of_plan {
            planned.lab = of_run;
        }
        planned
    }
}

/// Joins `sources`, one subject each, with the phases of all of them, under `header`.
fn join(mut header: RunHeader, sources: &[Source]) -> RunRecord {
    let plan = &mut header.plan;
    let lab = plan.venue.guest_lab();
    plan.subjects = sources.iter().map(|it| it.with_lab(lab.as_ref())).collect();
    let repeats = sources.iter().map(|it| it.run.header.plan.repeats);
    plan.repeats = repeats.max().unwrap_or(0);
    let mut trials = Vec::new();
    // Positions of a run's trials follow those of the run before.
    let (mut offset, mut previous) = (0, None::<&RunRecord>);
    for (source, cell) in sources.iter().zip(0..) {
        let run = source.run;
        if let Some(before) = previous.filter(|before| !std::ptr::eq(*before, run)) {
            offset += u32::try_from(before.trials.len()).unwrap_or(u32::MAX);
        }
        previous = Some(run);
        for phase in &run.header.plan.phases {
            if plan.phases.iter().all(|known| known.name != phase.name) {
                plan.phases.push(phase.clone());
            }
        }
        let from = CellId::at(source.place);
        trials.extend(run.cell(from).map(|trial| {
            let mut trial = trial.clone();
            trial.trial.cell = CellId(cell);
            trial.position = trial.position.saturating_add(offset);
            trial
        }));
    }
    RunRecord { header, trials }
}

/// Each run of a side with the index of the first run's subject in it; the number of its subjects
/// if it lacks it.
fn side_places(runs: &[RunRecord], place: usize) -> Vec<(&RunRecord, usize)> {
    let wanted = runs.first().and_then(|first| subjects(first).nth(place));
    let place_in = |run: &RunRecord| match subjects(run).count() {
        1 if runs.iter().all(|run| subjects(run).count() == 1) => 0,
        all => subjects(run)
            .position(|subject| Some(subject) == wanted)
            .unwrap_or(all),
    };
    runs.iter().map(|run| (run, place_in(run))).collect()
}

/// The phases of `run` that another run defines differently under the same name.
fn unlike_phases<'a>(
    run: &RunRecord,
    others: impl Iterator<Item = &'a RunRecord>,
) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    for other in others {
        let known: BTreeMap<&str, &PhaseSpec> = specs(other).collect();
        for (name, spec) in specs(run) {
            let unlike = known.get(name).and_then(|it| phase_difference(it, spec));
            if let Some(what) = unlike.filter(|_| !found.iter().any(|(it, _)| it == name)) {
                found.push((name.to_owned(), what));
            }
        }
    }
    found
}

fn specs(run: &RunRecord) -> impl Iterator<Item = (&str, &PhaseSpec)> {
    let phases = run.header.plan.phases.iter();
    phases.map(|phase| (phase.name.as_str(), phase))
}

/// The differences as sentences, after `first`.
fn differences(runs: &[RunRecord], first: String) -> Vec<String> {
    let mut sentences = vec![first];
    let has_import = runs.iter().any(|run| is_imported(&run.header.plan));
    // The fslab that imported has not measured.
    let compared = |it: &Dimension| *it != Dimension::Fslab || !has_import;
    for dimension in Dimension::ALL.iter().copied().filter(compared) {
        let value =
            |run: &RunRecord, place| Values::of_subject(&run.header, place).value(dimension);
        sentences.extend(difference(runs, dimension.as_str(), value));
    }
    sentences.extend(difference(
        runs,
        "options of network mounts",
        |run, place| {
            let planned = run.header.plan.subjects.get(place);
            let mount = planned.and_then(|it| it.network_mount.as_ref());
            mount.map_or_else(String::new, |mount| mount.options.join(","))
        },
    ));
    // Not a dimension: more repeats are the same measurement with higher precision.
    sentences.extend(difference(runs, "repeats", |run, _| {
        let plan = &run.header.plan;
        let perturbed = if plan.perturb { ", perturbed" } else { "" };
        format!("{}{perturbed}", plan.repeats)
    }));
    sentences
}

/// The different values of `runs`, each with its subjects; `None` if all are equal.
fn difference(
    runs: &[RunRecord],
    name: &str,
    value: impl Fn(&RunRecord, usize) -> String,
) -> Option<String> {
    let mut values: Vec<(String, Vec<String>)> = Vec::new();
    for run in runs {
        for (place, subject) in subjects(run).enumerate() {
            let (value, subject) = (value(run, place), subject.to_string());
            match values.iter_mut().find(|(known, _)| *known == value) {
                Some((_, of)) => of.push(subject),
                None => values.push((value, vec![subject])),
            }
        }
    }
    let shown = |(value, of): &(String, Vec<String>)| {
        let value = if value.is_empty() { "none" } else { value };
        format!("{value} ({})", wording::list(of))
    };
    let each: Vec<String> = values.iter().map(shown).collect();
    (each.len() > 1).then(|| format!("They differ in the {name}: {}.", each.join("; ")))
}
