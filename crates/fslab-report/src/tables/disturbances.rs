//! Disturbances of the measurements, and kernel messages about their devices.

use std::collections::{BTreeMap, BTreeSet};

use fslab_model::{DisturbanceKind, KernelMessage, Subject};

use super::cells::subject_cell;
use crate::{Column, Table, TableCell, Tone, wording};
use fslab_compare::{Analysis, PhaseAnalysis, PhaseCell};

/// The mark of a figure with at least one disturbed repeat.
pub(crate) const MARK: &str = " †";
/// Most rows shown.
const ROWS_MAX: usize = 60;

/// Adds the mark if repeats were disturbed.
pub(super) fn marked(cell: TableCell, disturbed: usize) -> TableCell {
    match disturbed {
        0 => cell,
        _ => TableCell {
            text: cell.text + MARK,
            ..cell
        },
    }
}

/// The meaning of the mark; `None` if no figure has it.
pub(super) fn mark_note<'a>(
    phases: impl IntoIterator<Item = &'a PhaseAnalysis<'a>>,
) -> Option<String> {
    let cells = phases.into_iter().flat_map(PhaseAnalysis::points);
    let (mut disturbed, mut all) = (0, 0);
    for cell in cells.flat_map(|point| &point.cells) {
        disturbed += cell.disturbed();
        all += cell.done().count();
    }
    (disturbed > 0).then(|| {
        format!(
            "† rests on measurements that were disturbed: {disturbed} of {all} were, and all are in \
             the figures."
        )
    })
}

/// Every disturbance, with those of one kind in one phase of a subject in one row; `None` if there
/// was none.
pub fn disturbances(analysis: &Analysis) -> Option<Table> {
    let mut rows = Vec::new();
    for phase in analysis.phases.iter().flat_map(PhaseAnalysis::points) {
        for ((index, subject), cell) in analysis.subjects().enumerate().zip(&phase.cells) {
            for (kind, found) in by_kind(cell) {
                let worst = found.texts.iter().max_by(|a, b| a.1.total_cmp(&b.1));
                let repeats = format!("{} of {}", found.repeats, cell.done().count());
                rows.push(vec![
                    subject_cell(index, subject),
                    TableCell::new(wording::phase(phase.name)),
                    TableCell::new(title(kind)),
                    TableCell::new(repeats),
                    TableCell::new(worst.map_or("", |worst| worst.0)),
                ]);
            }
        }
    }
    let (columns, notes) = (
        vec![
            Column::left("Subject"),
            Column::left("Phase"),
            Column::left("What"),
            Column::right("Repeats"),
            Column::left("At worst"),
        ],
        left_out(&mut rows),
    );
    (!rows.is_empty()).then(|| Table {
        caption: "What disturbed the measurements".to_owned(),
        columns,
        rows,
        notes,
    })
}

/// What disturbed a phase of a subject in one way.
#[derive(Default)]
struct Disturbed<'a> {
    /// Repeats with it, in however many rounds.
    repeats: usize,
    /// The message of each record, with its share of the time.
    texts: Vec<(&'a str, f64)>,
}

fn by_kind<'a>(cell: &PhaseCell<'a>) -> BTreeMap<DisturbanceKind, Disturbed<'a>> {
    let mut kinds: BTreeMap<DisturbanceKind, Disturbed<'a>> = BTreeMap::new();
    for repeat in &cell.repeats {
        let mut seen = BTreeSet::new();
        for found in repeat.records().flat_map(|record| &record.disturbances) {
            let of_kind = kinds.entry(found.kind).or_default();
            of_kind.texts.push((&found.text, found.share));
            of_kind.repeats += usize::from(seen.insert(found.kind));
        }
    }
    kinds
}

fn title(kind: DisturbanceKind) -> &'static str {
    match kind {
        DisturbanceKind::Stopped => "stopped",
        DisturbanceKind::Steal => "time stolen by the hypervisor",
        DisturbanceKind::Processor => "other programs",
        DisturbanceKind::Waiting => "waiting for a processor",
        DisturbanceKind::Writers => "other writers",
        DisturbanceKind::Readers => "other readers",
    }
}

/// A kernel message about a subject's device, in all its trials.
struct Said<'a> {
    place: usize,
    subject: &'a Subject,
    message: &'a KernelMessage,
    repeats: BTreeSet<u32>,
    during: BTreeSet<&'a str>,
    times: u64,
}

impl Said<'_> {
    fn row(&self) -> Vec<TableCell> {
        let tone = match self.message.is_error {
            true => Tone::Bad,
            false => Tone::Plain,
        };
        let text = TableCell::new(&self.message.text).tone(tone);
        let repeats: Vec<String> = self.repeats.iter().map(u32::to_string).collect();
        let during: Vec<String> = self.during.iter().map(ToString::to_string).collect();
        vec![
            subject_cell(self.place, self.subject),
            TableCell::new(repeats.join(", ")),
            TableCell::new(during.join(", ")),
            match self.times {
                1 => text,
                times => text.detail(format!("{times} times")),
            },
        ]
    }
}

/// Kernel messages about the devices; `None` if there are none.
pub fn kernel_log(analysis: &Analysis) -> Option<Table> {
    // One row for equal words about a subject, however often its trials had them.
    let mut said: Vec<Said> = Vec::new();
    for trial in &analysis.run.trials {
        for message in &trial.kernel_log {
            let place = trial.trial.cell.0 as usize;
            let is_known = |it: &Said| it.place == place && it.message.text == message.text;
            let row = said.iter().position(is_known).unwrap_or(said.len());
            if row == said.len() {
                said.push(Said {
                    place,
                    subject: &trial.subject,
                    message,
                    repeats: BTreeSet::new(),
                    during: BTreeSet::new(),
                    times: 0,
                });
            }
            said[row].repeats.insert(trial.trial.repeat + 1);
            said[row].during.insert(&message.during);
            said[row].times += message.times;
        }
    }
    let mut rows: Vec<Vec<TableCell>> = said.iter().map(Said::row).collect();
    let notes = left_out(&mut rows);
    (!rows.is_empty()).then(|| Table {
        caption: "What the kernel said of the devices".to_owned(),
        columns: vec![
            Column::left("Subject"),
            Column::right("Repeats"),
            Column::left("During"),
            Column::left("Message"),
        ],
        rows,
        notes,
    })
}

fn left_out(rows: &mut Vec<Vec<TableCell>>) -> Vec<String> {
    let more = rows.len().saturating_sub(ROWS_MAX);
    rows.truncate(ROWS_MAX);
    match more {
        0 => Vec::new(),
        more => vec![format!("{more} more are in the JSON document.")],
    }
}
