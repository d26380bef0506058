//! The trials in the order of execution.

use fslab_model::{Perturbation, TrialOutcome, TrialRecord, format_ns};
use jiff::Timestamp;

use super::cells::subject_cell;
use crate::{Column, Table, TableCell, Tone};
use fslab_compare::Analysis;

/// Position, subject, repeat, start (UTC), duration and outcome of every trial with a record. Exact
/// runs have no column of repeats.
pub fn trials(analysis: &Analysis) -> Table {
    let mut trials: Vec<&TrialRecord> = analysis.run.trials.iter().collect();
    trials.sort_by_key(|trial| (trial.position, trial.trial));
    let exact = analysis.is_exact();
    let is_perturbed = trials.iter().any(|trial| !trial.perturbation.is_none());
    let row = |trial: &&TrialRecord| {
        let outcome = match &trial.outcome {
            TrialOutcome::Done => TableCell::new("done"),
            TrialOutcome::Failed { failure } => {
                TableCell::new(format!("failed: {failure}")).tone(Tone::Bad)
            }
        };
        let mut row = vec![
            TableCell::new((trial.position + 1).to_string()),
            subject_cell(trial.trial.cell.0 as usize, &trial.subject),
        ];
        row.extend((!exact).then(|| TableCell::new((trial.trial.repeat + 1).to_string())));
        row.extend(is_perturbed.then(|| perturbation(&trial.perturbation)));
        row.extend([
            TableCell::new(utc(trial.started_unix_s)),
            TableCell::new(format_ns(trial.elapsed_ns as f64)),
            outcome,
        ]);
        row
    };
    let mut columns = vec![Column::right("Place"), Column::left("Subject")];
    columns.extend((!exact).then(|| Column::right("Repeat")));
    columns.extend(is_perturbed.then(|| Column::left("Perturbed by").of("Sensitivity")));
    columns.extend([
        Column::left("Began (UTC)"),
        Column::right("Took"),
        Column::left("Outcome"),
    ]);
    Table {
        caption: "Trials in the order in which they ran".to_owned(),
        columns,
        rows: trials.iter().map(row).collect(),
        notes: Vec::new(),
    }
}

/// "431 pages, 4.36 ms, 22 process ids, seed 17013508179702705179"; a weak cell for the unperturbed
/// one.
fn perturbation(of: &Perturbation) -> TableCell {
    if of.is_none() {
        return TableCell::new("not at all").tone(Tone::Weak);
    }
    TableCell::new(format!(
        "{} pages, {}, {} process ids, seed {}",
        of.memory_pages,
        format_ns(of.start_ns as f64),
        of.processes,
        of.seed
    ))
}

/// A time as `2026-11-21 14:32:05`.
pub(crate) fn utc(unix_s: u64) -> String {
    i64::try_from(unix_s)
        .ok()
        .and_then(|seconds| Timestamp::from_second(seconds).ok())
        .map_or_else(
            || crate::wording::NOTHING.to_owned(),
            |time| time.strftime("%Y-%m-%d %H:%M:%S").to_string(),
        )
}
