//! The score of each subject with its parts.

use fslab_compare::{Analysis, ScoreAnalysis};
use fslab_model::format_ns;

use super::cells::{interval, subject_cell};
use crate::{Column, Table, TableCell, Tone, wording};

/// Significant digits of a score and its parts.
const DIGITS: usize = 4;

/// The score of each subject; `None` if the study has none, or no subject has one.
pub fn score(analysis: &Analysis) -> Option<Table> {
    let score = analysis.score.as_ref()?;
    let comparison = &score.comparison;
    if comparison.is_empty() {
        return None;
    }
    let mut columns = vec![Column::left("Subject")];
    columns.extend((!comparison.exact).then(|| Column::right("Repeats")));
    for part in &score.spec.parts {
        columns.push(Column::right(format!(
            "{}, {}",
            part.name,
            part.unit.symbol()
        )));
    }
    columns.push(Column::right(score.spec.name.clone()));
    columns.extend((!comparison.exact).then(|| Column::right("95 % interval")));
    columns.extend((comparison.entries.len() > 1).then(|| Column::left("Verdict").of("Verdict")));
    let rows = analysis.subjects().enumerate().map(|(index, subject)| {
        let entry = &comparison.entries[index];
        let mut row = vec![subject_cell(index, subject)];
        row.extend((!comparison.exact).then(|| TableCell::new(entry.values.len().to_string())));
        for part in &score.parts {
            let value = part[index].map(|estimate| digits(estimate.value));
            row.push(TableCell::optional(value));
        }
        row.push(TableCell::optional(entry.mean().map(digits)).tone(Tone::Strong));
        row.extend((!comparison.exact).then(|| interval(comparison, entry)));
        let verdict = wording::verdict_on(comparison, index);
        row.extend((comparison.entries.len() > 1).then(|| TableCell::optional(verdict)));
        row
    });
    Some(Table {
        caption: score.spec.name.clone(),
        columns,
        rows: rows.collect(),
        notes: notes(analysis, score),
    })
}

fn notes(analysis: &Analysis, score: &ScoreAnalysis) -> Vec<String> {
    let mut notes: Vec<String> = (score.spec.parts.iter())
        .map(|part| {
            let rates = part.phases.iter().map(|rate| match rate.names() {
                [one] => wording::phase(one),
                names => {
                    let names: Vec<String> = names.iter().map(|it| wording::phase(it)).collect();
                    format!("{} as one", wording::list(&names))
                }
            });
            let rates: Vec<String> = rates.collect();
            format!(
                "{}: the geometric mean of {}.",
                part.name,
                wording::list(&rates)
            )
        })
        .collect();
    notes.push("The score is the geometric mean of the parts.".to_owned());
    notes.extend(not_comparable(analysis, score));
    notes
}

/// Why the scores are not those of the benchmark; `None` if they are.
pub(crate) fn not_comparable(analysis: &Analysis, score: &ScoreAnalysis) -> Option<String> {
    let shortest = score.too_short.iter().flatten();
    let shortest = shortest.min_by(|one, other| one.1.total_cmp(&other.1));
    let scale = analysis.run.header.plan.scale;
    let reason = match shortest {
        Some((phase, seconds)) => format!(
            "{} took {}, and {} s are required",
            wording::phase(phase),
            format_ns(seconds * 1e9),
            score.spec.at_least_s,
        ),
        None if !scale.is_full() => format!("the study ran at a scale of {scale}"),
        None => return None,
    };
    Some(format!("Not comparable with published scores: {reason}."))
}

/// A score or a part of one.
pub(crate) fn digits(value: f64) -> String {
    let magnitude = value.abs().max(f64::MIN_POSITIVE).log10().floor() as i32;
    let decimals = (DIGITS as i32 - 1 - magnitude).clamp(0, 6) as usize;
    format!("{value:.decimals$}")
}
