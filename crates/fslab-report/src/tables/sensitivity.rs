//! The sensitivity of figures in virtual time.

use super::overview::phase_target;
use crate::wording;
use crate::{Column, Table, TableCell, Tone};
use fslab_compare::{Analysis, PhaseAnalysis};

/// Most figures named as the most sensitive ones.
const NAMED_MAX: usize = 3;

/// The sensitivity of each phase's headline figure by subject; `None` if repeats are not perturbed.
pub fn sensitivity(analysis: &Analysis) -> Option<Table> {
    let runs = analysis.run.perturbed_runs()?;
    let names: Vec<String> = analysis.subjects().map(ToString::to_string).collect();
    let mut columns = vec![Column::left("Phase")];
    let column = |(index, name): (usize, &String)| Column::right(name).about(index);
    columns.extend(names.iter().enumerate().map(column));
    let row = |phase: &PhaseAnalysis| {
        let head = TableCell::new(wording::heading(phase.name)).leads_to(phase_target(phase.name));
        let cells = (0..names.len()).map(|subject| cell(phase, subject));
        std::iter::once(head).chain(cells).collect()
    };
    Some(Table {
        caption: "How sensitive the figures are".to_owned(),
        columns,
        rows: analysis.phases.iter().map(row).collect(),
        notes: notes(analysis, runs, &names),
    })
}

/// "± 6.1 %"; "not known" for too few runs; empty without a figure.
pub(super) fn cell(phase: &PhaseAnalysis, subject: usize) -> TableCell {
    let has_figure = phase
        .comparison
        .as_ref()
        .is_some_and(|comparison| !comparison.entries[subject].values.is_empty());
    match phase.sensitivity(subject) {
        Some(share) => TableCell::new(wording::sensitivity(share)),
        None if has_figure => TableCell::new("not known").tone(Tone::Weak),
        None => TableCell::nothing(),
    }
}

fn notes(analysis: &Analysis, runs: usize, names: &[String]) -> Vec<String> {
    let mut notes = vec![format!(
        "Over {runs} perturbed runs in virtual time: how far a further one may lie from them (95 % \
         prediction interval) when nothing changes but pages of memory, the moment of the start, \
         process ids and random numbers of the guest. Data and order of access stay the same."
    )];
    let sensitive = analysis.sensitive();
    let named = sensitive
        .iter()
        .filter(|it| it.share >= fslab_stats::RESOLUTION)
        .take(NAMED_MAX);
    let named: Vec<String> = named
        .map(|it| {
            format!(
                "{} in {}, {}",
                names[it.subject],
                wording::phase(analysis.phases[it.phase].name),
                wording::sensitivity(it.share)
            )
        })
        .collect();
    if !named.is_empty() {
        notes.push(format!("Most sensitive: {}.", named.join("; ")));
    } else if !sensitive.is_empty() {
        notes.push(format!(
            "No figure is sensitive: each is expected within {} of these.",
            wording::percent(fslab_stats::RESOLUTION)
        ));
    }
    let unknown = |phase: &&PhaseAnalysis| {
        (0..names.len()).any(|subject| cell(phase, subject).text == "not known")
    };
    if analysis.phases.iter().any(|phase| unknown(&phase)) {
        notes.push("Not known: it takes three runs with the figure.".to_owned());
    }
    notes
}
