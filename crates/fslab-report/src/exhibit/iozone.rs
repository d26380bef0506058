//! The columns of Iozone: a row for each file size and record size, a column for each phase, rates
//! in KiB a second; and Iozone's report format.

use std::fmt::Write;

use fslab_compare::{Analysis, PhaseAnalysis, PhaseCell};
use fslab_model::definitions::THROUGHPUT;
use fslab_model::{PointValue, RunRecord};
use fslab_stats::centre;

use super::content::{Content, Value};
use super::selection::{Selection, value_of};
use crate::{Column, ReportError, Table, TableCell, Tone, tables};

const FILE_SIZE: &str = "file_size";
const RECORD: &str = "record";
/// Iozone's titles of its reports, by the names of phases.
const TITLES: [(&str, &str); 14] = [
    ("write", "Writer report"),
    ("rewrite", "Re-writer report"),
    ("read", "Reader report"),
    ("reread", "Re-Reader report"),
    ("random-read", "Random read report"),
    ("random-write", "Random write report"),
    ("backward-read", "Backward read report"),
    ("record-rewrite", "Record rewrite report"),
    ("strided-read", "Stride read report"),
    ("stride-read", "Stride read report"),
    ("fwrite", "Fwrite report"),
    ("refwrite", "Re-Fwrite report"),
    ("fread", "Fread report"),
    ("refread", "Re-Fread report"),
];

/// A file size and a record size.
type Place = (PointValue, PointValue);

pub(super) fn draw(selection: &Selection) -> Result<Content, String> {
    let phases: Vec<&PhaseAnalysis> = selection.phases.iter().map(|s| s.phase).collect();
    let points: Vec<&PhaseAnalysis> = selection
        .phases
        .iter()
        .flat_map(|selected| selected.points.iter().copied())
        .collect();
    let places = places(&points);
    if places.is_empty() {
        return Err(format!(
            "none of its phases is swept over {FILE_SIZE} and {RECORD}"
        ));
    }
    let mut content = Content::default();
    for (subject, name) in selection.names().enumerate() {
        content.tables.push(table(&phases, &places, subject, name));
        for phase in &phases {
            for place in &places {
                let rate = point(phase, *place).and_then(|point| rate(point, subject));
                let x = format!("{}/{}", place.0.number(), place.1.number());
                let of = (phase.name, name, x.as_str());
                content.values.push(Value::of(of, &THROUGHPUT, rate));
            }
        }
    }
    content
        .notes
        .push("Sizes are in KiB, rates in KiB a second.".to_owned());
    Ok(content)
}

/// File sizes and record sizes of `points`, sorted.
fn places(points: &[&PhaseAnalysis]) -> Vec<Place> {
    let place =
        |phase: &&PhaseAnalysis| Some((value_of(phase, FILE_SIZE)?, value_of(phase, RECORD)?));
    let mut places: Vec<Place> = points.iter().filter_map(place).collect();
    places.sort_unstable();
    places.dedup();
    places
}

fn point<'p, 'a>(phase: &'p PhaseAnalysis<'a>, place: Place) -> Option<&'p PhaseAnalysis<'a>> {
    phase.points().iter().find(|point| {
        value_of(point, FILE_SIZE) == Some(place.0) && value_of(point, RECORD) == Some(place.1)
    })
}

fn rate(point: &PhaseAnalysis, subject: usize) -> Option<f64> {
    let values = point.cells.get(subject)?.values(&THROUGHPUT);
    centre(&values)
}

fn kib(bytes: f64) -> String {
    format!("{:.0}", bytes / 1024.0)
}

fn size(value: PointValue) -> String {
    kib(value.number() as f64)
}

fn table(phases: &[&PhaseAnalysis], places: &[Place], subject: usize, name: &str) -> Table {
    let mut columns = vec![Column::right("KB"), Column::right("reclen")];
    columns.extend(phases.iter().map(|phase| Column::right(phase.name)));
    let row = |place: &Place| {
        let mut row = vec![TableCell::new(size(place.0)), TableCell::new(size(place.1))];
        row.extend(phases.iter().map(|phase| cell(phase, *place, subject)));
        row
    };
    Table {
        caption: name.to_owned(),
        columns,
        rows: places.iter().map(row).collect(),
        notes: Vec::new(),
    }
}

fn cell(phase: &PhaseAnalysis, place: Place, subject: usize) -> TableCell {
    let Some(point) = point(phase, place) else {
        return TableCell::nothing();
    };
    if let Some(rate) = rate(point, subject) {
        return TableCell::new(kib(rate));
    }
    let absence = point.cells.get(subject).and_then(PhaseCell::absence);
    match absence {
        Some(reason) => TableCell::new(tables::absence_word(&reason)).tone(Tone::Bad),
        None => TableCell::new("no time").tone(Tone::Weak),
    }
}

/// The run as Iozone prints it with `-R`: for each subject the table, then for each phase a matrix
/// of file sizes by record sizes. A point without a rate is an empty cell.
///
/// # Errors
/// [`ReportError::Layout`] if no phase of the run is swept over file and record sizes.
pub fn iozone_report(run: &RunRecord) -> Result<String, ReportError> {
    let analysis = Analysis::of(run);
    let is_swept = |phase: &&PhaseAnalysis| {
        let dimensions = phase.sweep.iter().flat_map(|sweep| &sweep.dimensions);
        let names: Vec<&str> = dimensions.map(|dimension| dimension.name).collect();
        names.contains(&FILE_SIZE) && names.contains(&RECORD)
    };
    let phases: Vec<&PhaseAnalysis> = analysis.phases.iter().filter(is_swept).collect();
    let points: Vec<&PhaseAnalysis> = phases.iter().flat_map(|phase| phase.points()).collect();
    let places = places(&points);
    if places.is_empty() {
        return Err(ReportError::Layout {
            layout: "Iozone",
            wanted: format!("phases that are swept over {FILE_SIZE} and {RECORD}"),
        });
    }
    let mut text = String::new();
    for (subject, name) in analysis.subjects().enumerate() {
        let table = table(&phases, &places, subject, &name.to_string());
        plain(&mut text, &table);
        text.push_str("\nExcel output is below:\n");
        for phase in &phases {
            matrix(&mut text, phase, &places, subject);
        }
        text.push('\n');
    }
    Ok(text)
}

/// The table in columns of fixed width.
fn plain(text: &mut String, table: &Table) {
    let mut line = |cells: &mut dyn Iterator<Item = &str>| {
        let cells: String = cells.map(|cell| format!("{cell:>16}")).collect();
        writeln!(text, "{cells}").expect("writes to memory");
    };
    line(&mut ["Subject:", &table.caption].into_iter());
    line(&mut table.columns.iter().map(|column| column.title.as_str()));
    for row in &table.rows {
        line(&mut row.iter().map(|cell| cell.text.as_str()));
    }
}

fn matrix(text: &mut String, phase: &PhaseAnalysis, places: &[Place], subject: usize) {
    let known = TITLES.iter().find(|(name, _)| *name == phase.name);
    let title = known.map_or_else(
        || format!("{} report", crate::wording::heading(phase.name)),
        |(_, title)| (*title).to_owned(),
    );
    let mut records: Vec<PointValue> = places.iter().map(|place| place.1).collect();
    records.sort_unstable();
    records.dedup();
    let heads: String = records
        .iter()
        .map(|r| format!("  \"{}\"", size(*r)))
        .collect();
    writeln!(text, "\n\"{title}\"\n        {}", heads.trim_start()).expect("writes to memory");
    for row in places.chunk_by(|a, b| a.0 == b.0) {
        write!(text, "\"{}\"  ", size(row[0].0)).expect("writes to memory");
        // A gap inside a row keeps its place; none is written after the last point.
        let last = row.iter().map(|place| place.1).max();
        for record in records.iter().filter(|record| Some(**record) <= last) {
            let found = row.iter().find(|place| place.1 == *record);
            let point = found.and_then(|place| point(phase, *place));
            let rate = point.and_then(|point| rate(point, subject));
            let cell = rate.map_or_else(|| "\"\"".to_owned(), kib);
            write!(text, " {cell} ").expect("writes to memory");
        }
        text.push('\n');
    }
}
