//! The geometric mean over all phases, per subject.

use super::cells::{EXACT, against_best, subject_cell};
use crate::wording;
use crate::{Column, Table, TableCell, Tone};
use fslab_compare::{Analysis, Comparison, Standing};

/// The geometric mean over phases of each subject's speed relative to the best subject and to the
/// first of the plan, with intervals, p-value and verdict; `None` if fewer than two subjects or two
/// phases can be compared.
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
        let is_used = |place: usize| overall.phases.iter().any(|(used, _)| *used == place);
        let phases = analysis.phases.iter().enumerate();
        let left_out = phases.filter(|(place, _)| !is_used(*place));
        let names: Vec<_> = left_out.map(|(_, it)| wording::phase(it.name)).collect();
        let repeats = if exact { "its repeat" } else { "two repeats" };
        notes.push(format!(
            "Over {used} of {}; without {}, for which not every subject has a figure above 0 in \
             {repeats}.",
            wording::count(all, "phase"),
            wording::list(&names)
        ));
    }
    let less = overall.phases.iter().filter(|(_, weight)| *weight < 1.0);
    let less: Vec<String> = less
        .map(|(place, weight)| {
            let name = wording::phase(analysis.phases[*place].name);
            format!("{name} ({})", wording::percent(*weight))
        })
        .collect();
    if !less.is_empty() {
        notes.push(format!(
            "By disk time, and with less weight, as the disk worked for less than half of the \
             phase: {}.",
            wording::list(&less)
        ));
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
         are not independent."
            .to_owned()
    });
    notes
}
