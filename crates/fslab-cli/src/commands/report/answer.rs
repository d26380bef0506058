//! The answer of a run to its study's question, for the terminal and for reports.

use std::fmt::Write;

use fslab_compare::Analysis;
use fslab_model::RunRecord;
use fslab_report::{Reservations, answer};

use crate::terminal::paragraph::wrap;

/// Most columns of a line: longer ones are hard to read.
const COLUMNS_MAX: usize = 100;
/// Columns of a label.
const LABEL_LENGTH: usize = 14;

/// What the catalogue says for or against the subjects of a run beside their speed. Imported
/// subjects may be unknown to it.
pub(crate) fn reservations(record: &RunRecord) -> Reservations {
    let subjects = record.header.plan.subjects.iter().map(|plan| &plan.subject);
    subjects
        .filter_map(|subject| {
            let entry = fslab_fs::find(subject.fs()).ok()?;
            Some((subject.to_string(), entry.reservations_of(subject)))
        })
        .collect()
}

/// The answer as text in that many columns at most, with a blank line after it; empty if the study
/// recommends nothing.
pub(crate) fn answer_text(analysis: &Analysis, columns: usize) -> String {
    let mut text = String::new();
    let Some(answer) = answer(analysis, &reservations(analysis.run)) else {
        return text;
    };
    let question = answer.question.as_deref();
    let lines = [
        ("Question", question),
        ("Answer", Some(answer.text.as_str())),
    ];
    let remarks = answer.remarks.iter();
    let remarks = remarks.map(|remark| (remark.label, Some(remark.text.as_str())));
    let width = columns
        .min(COLUMNS_MAX)
        .saturating_sub(LABEL_LENGTH)
        .max(LABEL_LENGTH);
    for (label, sentences) in lines.into_iter().chain(remarks) {
        let lines = wrap(sentences.unwrap_or_default(), width);
        for (index, line) in lines.iter().filter(|line| !line.is_empty()).enumerate() {
            let label = if index == 0 { label } else { "" };
            // Writing to a string does not fail.
            let _ = writeln!(text, "{label:<LABEL_LENGTH$}{line}");
        }
    }
    text + "\n"
}
