//! Steps around the phases (mkfs, mount, unmount, check), and durable throughput.

use fslab_model::definitions::{DURABLE_THROUGHPUT, SETTLE_SYNC, SETTLE_UNMOUNT, THROUGHPUT};

use super::cells::{EXACT, against_best, interval, mean, mean_title, subject_cell};
use super::flushing::{flush_marked, flush_note};
use crate::{Column, Table, TableCell, wording};
use fslab_compare::{Analysis, Comparison};

fn exact_note(analysis: &Analysis) -> Vec<String> {
    let note = analysis.is_exact().then(|| EXACT.to_owned());
    note.into_iter().collect()
}

/// The median duration of mkfs, the first mount, the last unmount and the check, with intervals;
/// `None` if there was no mkfs or mount.
pub fn steps(analysis: &Analysis) -> Option<Table> {
    if analysis.steps.is_empty() {
        return None;
    }
    let mut columns = vec![Column::left("Subject")];
    for step in &analysis.steps {
        let name = step.metric.name.trim_end_matches("_ns");
        if step.exact {
            columns.push(Column::right(name).of(step.metric.name));
            continue;
        }
        columns.push(
            Column::right(mean_title(step.exact))
                .in_group(name)
                .of(step.metric.name),
        );
        columns.push(Column::right("95 % interval").in_group(name));
    }
    let rows = analysis.subjects().enumerate().map(|(index, subject)| {
        let mut row = vec![subject_cell(index, subject)];
        for step in &analysis.steps {
            let entry = &step.entries[index];
            row.push(mean(step, entry));
            if !step.exact {
                row.push(interval(step, entry));
            }
        }
        row
    });
    Some(Table {
        caption: "mkfs, mount, unmount and check".to_owned(),
        columns,
        rows: rows.collect(),
        notes: exact_note(analysis),
    })
}

/// Durable throughput, bytes / (write + fsync + sync + unmount), of each phase that settles, beside
/// the throughput that the application saw; `None` if no phase settles.
pub fn durable(analysis: &Analysis) -> Option<Table> {
    let settled = analysis.durable_throughput();
    let exact = settled.iter().all(|(_, durable)| durable.exact);
    if settled.is_empty() {
        return None;
    }
    let of_group = |title: &str, group: &str| Column::right(title).in_group(group);
    let mut columns = vec![
        Column::left("Subject"),
        of_group(mean_title(exact), "Durable").of(DURABLE_THROUGHPUT.name),
    ];
    columns.extend((!exact).then(|| of_group("95 % interval", "Durable")));
    columns.extend([
        of_group("of best", "Durable"),
        of_group("throughput", "Seen by the application").of(THROUGHPUT.name),
        of_group("sync", "Afterwards").of(SETTLE_SYNC.name),
        of_group("unmount", "Afterwards").of(SETTLE_UNMOUNT.name),
    ]);
    let mut rows = Vec::new();
    for (phase, durable) in &settled {
        let seen = phase.compare(&THROUGHPUT);
        let (sync, unmount) = (phase.compare(&SETTLE_SYNC), phase.compare(&SETTLE_UNMOUNT));
        for (index, subject) in analysis.subjects().enumerate() {
            let entry = &durable.entries[index];
            let at = |comparison: &Comparison| mean(comparison, &comparison.entries[index]);
            let head = subject_cell(index, subject).detail(wording::phase(phase.name));
            let mut row = vec![head, flush_marked(at(durable), phase, index)];
            row.extend((!exact).then(|| interval(durable, entry)));
            row.push(TableCell::optional(against_best(entry)));
            row.extend([at(&seen), at(&sync), at(&unmount)]);
            rows.push(row);
        }
    }
    let mut notes = exact_note(analysis);
    notes.extend(flush_note(settled.iter().map(|(phase, _)| *phase)));
    Some(Table {
        caption: "Throughput until the data is on the device".to_owned(),
        columns,
        rows,
        notes,
    })
}
