//! What surrounds the phases: mkfs, mount, unmount, check, and the way of writes to the device.

use fslab_model::definitions::{DURABLE_THROUGHPUT, SETTLE_SYNC, SETTLE_UNMOUNT, THROUGHPUT};

use super::cells::{against_best, interval, median, subject_cell};
use crate::{Analysis, Column, Comparison, Table, TableCell, wording};

/// The median duration of mkfs, the first mount, the last unmount and the check, with intervals;
/// `None` where nothing was formatted or mounted.
#[must_use]
pub fn steps(analysis: &Analysis) -> Option<Table> {
    if analysis.steps.is_empty() {
        return None;
    }
    let mut columns = vec![Column::left("Subject")];
    for step in &analysis.steps {
        let name = step.metric.name.trim_end_matches("_ns");
        columns.push(Column::right("median").in_group(name).of(step.metric.name));
        columns.push(Column::right("95 % interval").in_group(name));
    }
    let rows = analysis.subjects().enumerate().map(|(index, subject)| {
        let mut row = vec![subject_cell(index, subject)];
        for step in &analysis.steps {
            let entry = &step.entries[index];
            row.extend([median(step, entry), interval(step, entry)]);
        }
        row
    });
    Some(Table {
        caption: "Making, mounting, unmounting and checking".to_owned(),
        columns,
        rows: rows.collect(),
        notes: Vec::new(),
    })
}

/// Durable throughput, bytes / (write + fsync + sync + unmount), of each phase that settles, beside
/// what the application saw; `None` where no phase does.
#[must_use]
pub fn durable(analysis: &Analysis) -> Option<Table> {
    let mut rows = Vec::new();
    for phase in &analysis.phases {
        let durable = phase.compare(&DURABLE_THROUGHPUT);
        if durable.is_empty() {
            continue;
        }
        let seen = phase.compare(&THROUGHPUT);
        let (sync, unmount) = (phase.compare(&SETTLE_SYNC), phase.compare(&SETTLE_UNMOUNT));
        for (index, subject) in analysis.subjects().enumerate() {
            let entry = &durable.entries[index];
            let at = |comparison: &Comparison| median(comparison, &comparison.entries[index]);
            let ratio = against_best(entry).map_or_else(TableCell::nothing, TableCell::new);
            rows.push(vec![
                subject_cell(index, subject).detail(wording::phase(phase.name)),
                at(&durable),
                interval(&durable, entry),
                ratio,
                at(&seen),
                at(&sync),
                at(&unmount),
            ]);
        }
    }
    let columns = vec![
        Column::left("Subject"),
        Column::right("median")
            .in_group("Durable")
            .of(DURABLE_THROUGHPUT.name),
        Column::right("95 % interval").in_group("Durable"),
        Column::right("of best").in_group("Durable"),
        Column::right("throughput")
            .in_group("Seen by the application")
            .of(THROUGHPUT.name),
        Column::right("sync")
            .in_group("Afterwards")
            .of(SETTLE_SYNC.name),
        Column::right("unmount")
            .in_group("Afterwards")
            .of(SETTLE_UNMOUNT.name),
    ];
    (!rows.is_empty()).then(|| Table {
        caption: "Throughput until the data is on the device".to_owned(),
        columns,
        rows,
        notes: Vec::new(),
    })
}
