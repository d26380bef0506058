//! Runs of one study on several machines, joined into one comparison.
//!
//! Two results compare only where all dimensions but the one studied agree. A comparison across
//! machines waives that law by name: it lists what differs, and refuses what would be another
//! question altogether: other phases, another scale, virtual against real time.

use fslab_model::{CellId, PhaseSpec, Plan, RunRecord, Subject, VenueKind, VenuePlan};

use crate::wording;

/// Several runs as one.
#[derive(Clone, Debug, PartialEq)]
pub struct Merged {
    /// The subjects of all runs; the head is that of the first.
    pub run: RunRecord,
    /// In what else than the subject the runs differ, in sentences.
    pub differences: Vec<String>,
}

/// Why runs cannot be joined, or a subject cannot be renamed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MergeError {
    /// Less than two.
    #[error("a comparison across machines needs two runs or more")]
    TooFew,
    /// They did not ask the same.
    #[error("{first} and {other} differ in {what}, and no waiver makes that comparable")]
    Question {
        /// The first run.
        first: String,
        /// The one that differs.
        other: String,
        /// In what.
        what: String,
    },
    /// Two subjects of one name.
    #[error("{first} and {other} both have the subject {subject}")]
    Twins {
        /// The run that had it before.
        first: String,
        /// The one that has it, too.
        other: String,
        /// The subject.
        subject: String,
    },
    /// A run with several subjects cannot have one label.
    #[error("{run} has {count} subjects, and a label is for a run that has one")]
    Several {
        /// The run.
        run: String,
        /// How many.
        count: usize,
    },
}

/// Gives the one subject of `run` another name: what is mounted where a run of the venue `dir`
/// worked is what its user says.
///
/// # Errors
/// [`MergeError::Several`].
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
///
/// # Errors
/// [`MergeError`], by the names of the runs.
pub fn merge(runs: &[RunRecord]) -> Result<Merged, MergeError> {
    let [first, others @ ..] = runs else {
        return Err(MergeError::TooFew);
    };
    if others.is_empty() {
        return Err(MergeError::TooFew);
    }
    let mut merged = first.clone();
    for other in others {
        if let Some(what) = other_question(&first.header.plan, &other.header.plan) {
            return Err(MergeError::Question {
                first: first.header.run.to_string(),
                other: other.header.run.to_string(),
                what: what.to_owned(),
            });
        }
        join(&mut merged, other, runs)?;
    }
    let repeats = runs.iter().map(|run| run.header.plan.repeats).max();
    merged.header.plan.repeats = repeats.unwrap_or_default();
    Ok(Merged {
        run: merged,
        differences: differences(runs),
    })
}

fn join(merged: &mut RunRecord, other: &RunRecord, runs: &[RunRecord]) -> Result<(), MergeError> {
    let plan = &mut merged.header.plan;
    for planned in &other.header.plan.subjects {
        let is_it = |run: &&RunRecord| {
            let subjects = run.header.plan.subjects.iter();
            run.header.run != other.header.run
                && subjects
                    .into_iter()
                    .any(|known| known.subject == planned.subject)
        };
        if plan
            .subjects
            .iter()
            .any(|known| known.subject == planned.subject)
        {
            let owner = runs.iter().find(is_it).unwrap_or(other);
            return Err(MergeError::Twins {
                first: owner.header.run.to_string(),
                other: other.header.run.to_string(),
                subject: planned.subject.to_string(),
            });
        }
    }
    let offset = u32::try_from(plan.subjects.len()).unwrap_or(u32::MAX);
    plan.subjects.extend_from_slice(&other.header.plan.subjects);
    let before = u32::try_from(merged.trials.len()).unwrap_or(u32::MAX);
    merged.trials.extend(other.trials.iter().map(|trial| {
        let mut trial = trial.clone();
        trial.trial.cell = CellId(trial.trial.cell.0.saturating_add(offset));
        trial.position = trial.position.saturating_add(before);
        trial
    }));
    Ok(())
}

/// In what two plans are not the same question; `None` where they are.
fn other_question(first: &Plan, other: &Plan) -> Option<&'static str> {
    let of = |phase: &PhaseSpec| {
        let PhaseSpec {
            name,
            workload,
            cache,
            settle,
            parameters,
            definition,
            ..
        } = phase.clone();
        (name, workload, cache, settle, parameters, definition)
    };
    let phases = |plan: &Plan| plan.phases.iter().map(of).collect::<Vec<_>>();
    let is_virtual = |plan: &Plan| plan.venue.kind() == VenueKind::Sim;
    if first.study != other.study {
        Some("their study")
    } else if phases(first) != phases(other) {
        Some("their phases")
    } else if first.scale != other.scale {
        Some("their scale")
    } else if is_virtual(first) != is_virtual(other) {
        Some("their time, which is virtual in one of them")
    } else {
        None
    }
}

/// What differs, a sentence each, after one that says what was waived.
fn differences(runs: &[RunRecord]) -> Vec<String> {
    let known = |value: &Option<String>| value.clone().unwrap_or_else(|| "unknown".to_owned());
    type Dimension<'a> = (&'static str, Box<dyn Fn(&RunRecord) -> String + 'a>);
    let dimensions: [Dimension; 11] = [
        ("host", Box::new(|run| known(&run.header.machine.host))),
        ("system", Box::new(|run| known(&run.header.machine.os))),
        ("kernel", Box::new(|run| known(&run.header.machine.kernel))),
        ("processor", Box::new(|run| known(&run.header.machine.cpu))),
        ("memory", Box::new(memory)),
        ("venue", Box::new(venue)),
        (
            "size",
            Box::new(|run| run.header.plan.size_bytes.to_string()),
        ),
        (
            "meaning of cold",
            Box::new(|run| run.header.plan.cold.as_str().to_owned()),
        ),
        ("engine", Box::new(|run| run.header.plan.engine.clone())),
        (
            "repeats",
            Box::new(|run| {
                let plan = &run.header.plan;
                let perturbed = if plan.perturb { ", perturbed" } else { "" };
                format!("{}{perturbed}", plan.repeats)
            }),
        ),
        ("fslab", Box::new(|run| run.header.fslab.clone())),
    ];
    let mut told = Vec::new();
    for (name, value) in dimensions {
        let mut values: Vec<(String, Vec<String>)> = Vec::new();
        for run in runs {
            let (value, subjects) = (value(run), subjects(run));
            match values.iter_mut().find(|(known, _)| *known == value) {
                Some((_, of)) => of.extend(subjects),
                None => values.push((value, subjects)),
            }
        }
        if values.len() > 1 {
            let each = values.into_iter();
            let each = each.map(|(value, of)| format!("{value} ({})", wording::list(&of)));
            told.push((name, each.collect::<Vec<_>>().join("; ")));
        }
    }
    let names: Vec<String> = runs.iter().map(|run| run.header.run.to_string()).collect();
    let mut sentences = vec![format!(
        "These are {} runs, {}, compared across machines: that all but the subject is alike was \
         waived, and a difference may be one of the machines.",
        runs.len(),
        wording::list(&names)
    )];
    let told = told.into_iter();
    sentences.extend(told.map(|(name, values)| format!("They differ in the {name}: {values}.")));
    sentences
}

fn subjects(run: &RunRecord) -> Vec<String> {
    let subjects = run.header.plan.subjects.iter();
    subjects
        .map(|planned| planned.subject.to_string())
        .collect()
}

fn memory(run: &RunRecord) -> String {
    let bytes = run.header.machine.memory_bytes.map(fslab_model::Bytes);
    bytes.map_or_else(|| "unknown".to_owned(), |bytes| bytes.to_string())
}

fn venue(run: &RunRecord) -> String {
    match &run.header.plan.venue {
        VenuePlan::Dir { dir } => format!("dir {}", dir.display()),
        VenuePlan::Block { device } => format!("block {}", device.display()),
        other => other.kind().as_str().to_owned(),
    }
}
