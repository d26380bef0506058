//! Pairing of the subjects of two runs.

use fslab_model::{RunRecord, Subject};

use crate::DiffError;

/// A subject of each run, by index in the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    pub base: usize,
    /// In the new run.
    pub new: usize,
}

/// The pairs of `wanted`; if empty, the subjects that both runs have, in the order of the base. Two
/// runs with one subject each are compared whatever the names.
pub fn pairs(
    base: &RunRecord,
    new: &RunRecord,
    wanted: &[(Subject, Subject)],
) -> Result<Vec<Pair>, DiffError> {
    if !wanted.is_empty() {
        let pair = |(of_base, of_new): &(Subject, Subject)| {
            Ok(Pair {
                base: place(base, of_base)?,
                new: place(new, of_new)?,
            })
        };
        return wanted.iter().map(pair).collect();
    }
    let in_both = |(place, subject): (usize, &Subject)| {
        let new = subjects(new).position(|other| other == subject)?;
        Some(Pair { base: place, new })
    };
    let common: Vec<Pair> = subjects(base).enumerate().filter_map(in_both).collect();
    match common.is_empty() {
        false => Ok(common),
        true if subjects(base).count() == 1 && subjects(new).count() == 1 => {
            Ok(vec![Pair { base: 0, new: 0 }])
        }
        true => Err(DiffError::NoSubject {
            base: base.header.run.to_string(),
            new: new.header.run.to_string(),
            of_base: listed(base),
            of_new: listed(new),
        }),
    }
}

fn place(run: &RunRecord, wanted: &Subject) -> Result<usize, DiffError> {
    subjects(run)
        .position(|subject| subject == wanted)
        .ok_or_else(|| DiffError::UnknownSubject {
            run: run.header.run.to_string(),
            subject: wanted.to_string(),
            known: listed(run),
        })
}

/// The subjects of a run, in the order of its plan.
pub(crate) fn subjects(run: &RunRecord) -> impl Iterator<Item = &Subject> {
    run.header
        .plan
        .subjects
        .iter()
        .map(|planned| &planned.subject)
}

fn listed(run: &RunRecord) -> String {
    let names: Vec<String> = subjects(run).map(ToString::to_string).collect();
    crate::wording::list(&names)
}
