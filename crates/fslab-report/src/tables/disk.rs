//! The simulated disk's work in a phase, subjects as rows.

use fslab_model::definitions as d;
use fslab_model::{Bytes, MetricDefinition, PhaseRecord, Subject, TimeParts, format_ns};

use super::cells::subject_cell;
use crate::wording;
use crate::{Column, Table, TableCell};
use fslab_compare::{PhaseAnalysis, PhaseCell};

/// The format of a column's figure.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    Figure,
    Percent,
}

/// The metrics shown, by group and short title.
const METRICS: [(&str, &str, &MetricDefinition, Style); 11] = [
    ("Access", "seeks", &d::SEEKS, Style::Figure),
    (
        "Access",
        "mean distance",
        &d::SEEK_BYTES_MEAN,
        Style::Figure,
    ),
    ("Access", "sequential", &d::SEQUENTIAL_SHARE, Style::Percent),
    ("Access", "metadata", &d::METADATA_SHARE, Style::Percent),
    ("Queue", "mean depth", &d::QUEUE_DEPTH_MEAN, Style::Figure),
    (
        "Written per byte",
        "to the disk",
        &d::WRITE_AMPLIFICATION,
        Style::Figure,
    ),
    (
        "Written per byte",
        "to the media",
        &d::MEDIA_WRITE_AMPLIFICATION,
        Style::Figure,
    ),
    ("Device time, exact", "phase", &d::ELAPSED, Style::Figure),
    ("Device time, exact", "idle", &d::DEVICE_IDLE, Style::Figure),
    ("Host, measured", "processor", &d::HOST_CPU, Style::Figure),
    ("Host, measured", "real time", &d::HOST_REAL, Style::Figure),
];

/// One of the parts of a time.
type Part = fn(&TimeParts) -> u64;

/// The parts of the media's time, by short title.
const MEDIA: [(&str, Part); 3] = [
    ("seek", |time| time.seek_ns),
    ("rotation", |time| time.rotation_ns),
    ("transfer", |time| time.transfer_ns),
];

/// Seeks, sequential share, queue, the media's time, write amplification and the two clocks of each
/// subject; `None` if no subject's disk was simulated.
///
/// `subjects` are those of the run, in the order of the plan. Columns without any value are left
/// out.
pub fn disk<'a>(
    phase: &PhaseAnalysis,
    subjects: impl IntoIterator<Item = &'a Subject>,
) -> Option<Table> {
    if phase.cells.iter().all(|cell| cell.insight().is_none()) {
        return None;
    }
    let subjects: Vec<&Subject> = subjects.into_iter().collect();
    let mut columns = vec![Column::left("Subject")];
    let mut rows: Vec<Vec<TableCell>> = subjects
        .iter()
        .enumerate()
        .map(|(index, subject)| vec![subject_cell(index, subject)])
        .collect();
    let mut add = |column: Column, cells: Vec<Option<String>>| {
        if cells.iter().all(Option::is_none) {
            return;
        }
        columns.push(column);
        for (row, text) in rows.iter_mut().zip(cells) {
            row.push(TableCell::optional(text));
        }
    };
    for (group, title, metric, style) in METRICS {
        let column = Column::right(title).in_group(group).of(metric.name);
        add(column, means(phase, metric, style));
        if metric == &d::QUEUE_DEPTH_MEAN {
            let most = phase.cells.iter().map(deepest).collect();
            add(Column::right("most").in_group(group), most);
            for (title, part) in MEDIA {
                let column = Column::right(title).in_group("Time of the media");
                add(column.of("Where the time goes"), media(phase, part));
            }
        }
        if metric == &d::MEDIA_WRITE_AMPLIFICATION {
            let after = phase.cells.iter().map(written_after).collect();
            add(Column::right("afterwards").in_group("Written"), after);
        }
    }
    Some(Table {
        caption: format!("What the disk did in {}", wording::phase(phase.name)),
        columns,
        rows,
        notes: notes(phase, &subjects),
    })
}

fn means(
    phase: &PhaseAnalysis,
    metric: &'static MetricDefinition,
    style: Style,
) -> Vec<Option<String>> {
    let comparison = phase.compare(metric);
    let cells = comparison.entries.iter().map(|entry| {
        let mean = entry.mean()?;
        Some(match style {
            Style::Figure => wording::figure(metric, mean),
            Style::Percent => wording::percent(mean),
        })
    });
    cells.collect()
}

/// A part of the media's time; none if it is 0 for every subject, such as seeks of an SSD.
fn media(phase: &PhaseAnalysis, part: Part) -> Vec<Option<String>> {
    let times = phase.cells.iter().map(|cell| {
        let insight = cell.insight()?;
        Some(part(&insight.media_time()))
    });
    let times: Vec<Option<u64>> = times.collect();
    let nowhere = times.iter().flatten().all(|ns| *ns == 0);
    let texts = times.into_iter().map(|ns| {
        let ns = ns.filter(|_| !nowhere)?;
        Some(format_ns(ns as f64))
    });
    texts.collect()
}

fn deepest(cell: &PhaseCell) -> Option<String> {
    let depth = cell.insight()?.depth.max;
    Some(wording::thousands(depth as f64))
}

/// Bytes written by the sync and the unmount after the phase.
fn written_after(cell: &PhaseCell) -> Option<String> {
    let settled = |record: &'_ PhaseRecord| {
        let insight = record.settle_insight.as_ref()?;
        Some(Bytes(insight.writes.all.bytes).to_string())
    };
    cell.done().find_map(settled)
}

fn notes(phase: &PhaseAnalysis, subjects: &[&Subject]) -> Vec<String> {
    let mut notes = Vec::new();
    let quiet = |cell: &PhaseCell| {
        let insight = cell.insight();
        insight.is_none_or(|insight| insight.moved().requests == 0)
    };
    if phase.cells.iter().all(quiet) {
        notes.push("Nothing was read from the disk or written to it in this phase.".to_owned());
    }
    notes.push(
        "Device time is virtual: it is exact, and the same on every machine. Processor and real \
         time are measured on the host, and differ from run to run."
            .to_owned(),
    );
    let unmarked: Vec<String> = subjects
        .iter()
        .zip(&phase.cells)
        .filter(|(_, cell)| marks_nothing(cell))
        .map(|(subject, _)| subject.to_string())
        .collect();
    if !unmarked.is_empty() {
        notes.push(format!(
            "No request of {} was marked as metadata in the entire trial: the data shown includes \
             it.",
            wording::list(&unmarked)
        ));
    }
    notes
}

/// True if the file system marked nothing as metadata in an entire trial.
fn marks_nothing(cell: &PhaseCell) -> bool {
    let trials = cell.repeats.iter().filter_map(|repeat| repeat.trial);
    let mut insights = trials.filter_map(|trial| trial.insight.as_ref());
    insights.any(|insight| insight.metadata_share() == Some(0.0))
}
