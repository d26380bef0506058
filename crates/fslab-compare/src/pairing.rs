//! Pairing of the subjects of two runs.

use fslab_model::{Failure, RunRecord, Subject};

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
) -> Result<Vec<Pair>, Failure> {
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
        true => {
            let (of_base, of_new) = (listed(base), listed(new));
            let (base, new) = (&base.header.run, &new.header.run);
            let text = format!(
                "{base} and {new} have no subject in common: {base} has {of_base}, {new} has \
                 {of_new}"
            );
            Err(Failure::bad_input(text).hint("say which is which: --pair BASE=NEW"))
        }
    }
}

fn place(run: &RunRecord, wanted: &Subject) -> Result<usize, Failure> {
    subjects(run)
        .position(|subject| subject == wanted)
        .ok_or_else(|| {
            let (name, known) = (&run.header.run, listed(run));
            Failure::bad_input(format!("{name} has no subject '{wanted}'; it has {known}"))
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
