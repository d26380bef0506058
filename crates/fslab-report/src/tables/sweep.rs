//! All points of a sweep: a row per point, a column per subject.

use fslab_model::Subject;

use super::cells::absence_word;
use super::fastest::fastest;
use super::flushing::{flush_marked, flush_note};
use crate::wording;
use crate::{Column, Table, TableCell, Tone};
use fslab_compare::{PhaseAnalysis, PhaseCell, Standing};

/// The headline figure at every point of a sweep, and the fastest subject; `None` for a phase that
/// runs once.
pub fn sweep<'a>(
    phase: &PhaseAnalysis,
    subjects: impl IntoIterator<Item = &'a Subject>,
) -> Option<Table> {
    let sweep = phase.sweep.as_ref()?;
    let names: Vec<String> = subjects.into_iter().map(ToString::to_string).collect();
    let dimensions = sweep.dimensions.iter();
    let mut columns: Vec<Column> = dimensions
        .map(|dimension| Column::right(wording::phase(dimension.name)))
        .collect();
    let of_subject = |(index, name): (usize, &String)| Column::right(name).about(index);
    columns.extend(names.iter().enumerate().map(of_subject));
    if names.len() > 1 {
        columns.push(Column::left("Fastest"));
    }
    let row = |point: &PhaseAnalysis| {
        let value = |name: &str| point.point.and_then(|point| point.get(name));
        let dimensions = sweep.dimensions.iter();
        let mut row: Vec<TableCell> = dimensions
            .map(|dimension| TableCell::optional(value(dimension.name).map(ToString::to_string)))
            .collect();
        row.extend((0..names.len()).map(|subject| figure(point, subject)));
        if names.len() > 1 {
            row.push(fastest(point, &names));
        }
        row
    };
    Some(Table {
        caption: format!("Every point of {}", wording::phase(phase.name)),
        columns,
        rows: sweep.points.iter().map(row).collect(),
        notes: notes(phase),
    })
}

fn figure(point: &PhaseAnalysis, subject: usize) -> TableCell {
    let entry = point.comparison.as_ref().and_then(|comparison| {
        let entry = comparison.entries.get(subject)?;
        Some((comparison.metric, entry, entry.mean()?))
    });
    if let Some((metric, entry, mean)) = entry {
        let cell = TableCell::new(wording::figure(metric, mean));
        let cell = flush_marked(cell, point, subject);
        return match entry.to_best.filter(|_| entry.standing != Standing::Alone) {
            Some(speed) => cell.heat(speed.value),
            None => cell,
        };
    }
    let absence = point.cells.get(subject).and_then(PhaseCell::absence);
    match absence.as_deref().map(absence_word) {
        Some("failed") => TableCell::new("failed").tone(Tone::Bad),
        Some(word) => TableCell::new(word).tone(Tone::Weak),
        None => TableCell::new("no rate").tone(Tone::Weak),
    }
}

fn notes(phase: &PhaseAnalysis) -> Vec<String> {
    let mut notes = Vec::new();
    let without = |cell: &PhaseCell| {
        cell.done()
            .any(fslab_model::PhaseRecord::took_no_device_time)
    };
    if phase
        .points()
        .iter()
        .any(|point| point.cells.iter().any(without))
    {
        notes.push("No rate: nothing waited for the disk, and the processor takes no time.".into());
    }
    notes.extend(flush_note(phase.points()));
    let mut said: Vec<&str> = phase
        .points()
        .iter()
        .flat_map(|point| &point.cells)
        .flat_map(PhaseCell::done)
        .flat_map(|record| record.notes.iter().map(String::as_str))
        .collect();
    said.sort_unstable();
    said.dedup();
    notes.extend(said.into_iter().map(str::to_owned));
    notes
}
