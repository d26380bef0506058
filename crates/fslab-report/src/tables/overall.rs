//! The geometric mean over all phases, per subject.

use super::cells::{EXACT, against_best, subject_cell};
use crate::wording;
use crate::{Column, Table, TableCell, Tone};
use fslab_compare::{Analysis, Comparison, Standing};

/// The geometric mean over phases of each subject's speed relative to the best subject and to the
/// first of the plan, with intervals, p-value and verdict; `None` if fewer than two subjects or two
/// phases can be compared.
#[must_use]
pub fn overall(analysis: &Analysis) -> Option<Table> {
    let overall = analysis.overall.as_ref()?;
    let comparison = &overall.comparison;
    let exact = comparison.exact;
    let best = comparison.best.filter(|_| comparison.order().len() > 1)?;
    let names: Vec<String> = analysis.subjects().map(ToString::to_string).collect();
    let mut columns = vec![Column::left("Subject")];
    if !exact {
        columns.push(Column::right("Trials").of("Repeats"));
    }
    for group in [
        "Against the best".to_owned(),
        format!("Against {}", names[0]),
    ] {
        let figure = "Geometric mean over phases";
        columns.push(Column::right("ratio").in_group(&group).of(figure));
        if !exact {
            columns.push(Column::right("95 % interval").in_group(&group).of(figure));
        }
    }
    if !exact {
        columns.push(Column::right("corrected p").of("Corrected p"));
    }
    columns.push(Column::left("Verdict").of("Verdict"));
    let rows = analysis.subjects().enumerate().map(|(index, subject)| {
        let mut row = vec![subject_cell(index, subject)];
        row.extend(cells(comparison, index, best));
        row
    });
    Some(Table {
        caption: "Over all phases: the geometric mean of the ratios".to_owned(),
        columns,
        rows: rows.collect(),
        notes: notes(analysis, exact),
    })
}

fn cells(comparison: &Comparison, subject: usize, best: usize) -> Vec<TableCell> {
    let entry = &comparison.entries[subject];
    let exact = comparison.exact;
    let mut cells = Vec::new();
    cells.extend((!exact).then(|| TableCell::new(entry.values.len().to_string())));
    let winner = entry.standing == Standing::Winner;
    let tone = if winner { Tone::Strong } else { Tone::Plain };
    for (other, speed) in [(best, entry.to_best), (0, entry.to_first)] {
        let text = match other == best {
            true => against_best(entry),
            false => speed.map(|speed| wording::ratio(speed.value)),
        };
        cells.push(TableCell::optional(text).tone(tone));
        let interval = speed
            .and_then(|speed| speed.interval)
            .filter(|_| subject != other);
        cells.extend((!exact).then(|| TableCell::optional(interval.map(wording::ratio_interval))));
    }
    cells.extend((!exact).then(|| TableCell::optional(entry.p_corrected.map(wording::p_value))));
    cells.push(TableCell::optional(wording::verdict_on(
        comparison, subject,
    )));
    cells
}

fn notes(analysis: &Analysis, exact: bool) -> Vec<String> {
    let Some(overall) = &analysis.overall else {
        return Vec::new();
    };
    let (used, all) = (overall.phases.len(), analysis.phases.len());
    let mut notes = Vec::new();
    if used == all {
        notes.push(format!("Over all {}.", wording::count(all, "phase")));
    } else {
        let left_out = |is_bound: bool| {
            let phases = analysis.phases.iter().enumerate();
            let left_out = phases.filter(|(place, phase)| {
                !overall.phases.contains(place) && phase.is_disk_bound() == is_bound
            });
            let names: Vec<_> = left_out.map(|(_, it)| wording::phase(it.name)).collect();
            (!names.is_empty()).then(|| wording::list(&names))
        };
        let mut note = format!("Over {used} of {}", wording::count(all, "phase"));
        if let Some(names) = left_out(true) {
            let repeats = if exact { "its repeat" } else { "two repeats" };
            note += &format!(
                "; without {names}, for which not every subject has a figure above 0 in {repeats}"
            );
        }
        if let Some(names) = left_out(false) {
            note += &format!("; without {names}, which the disk does not decide");
        }
        notes.push(note + ".");
    }
    let without: Vec<String> = analysis
        .subjects()
        .zip(&overall.comparison.entries)
        .filter(|(_, entry)| entry.values.is_empty())
        .map(|(subject, _)| subject.to_string())
        .collect();
    if !without.is_empty() {
        let names = wording::list(&without);
        notes.push(format!(
            "Without {names}: too few of these phases have a figure."
        ));
    }
    notes.push(if exact {
        EXACT.to_owned()
    } else {
        "Each trial gives one value, its geometric mean over these phases: phases of one trial \
         are not independent. Every phase weighs alike."
            .to_owned()
    });
    notes
}
