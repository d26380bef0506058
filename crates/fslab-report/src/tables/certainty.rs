//! The statistics of a phase: spread, tests and verdicts, subjects as rows.

use fslab_model::Subject;
use fslab_stats::{IntervalMethod, TestMethod, interval_method};

use super::cells::{against_best, subject_cell};
use crate::wording;
use crate::{Column, Table, TableCell, Tone};
use fslab_compare::{Comparison, Entry, PhaseAnalysis, Standing};

/// Repeats, mean, standard deviation and coefficient of variation of each subject's headline
/// figure, and its comparison with the best: ratio with interval, percent of the loser, p-value,
/// corrected p-value and verdict. `family` is the number of pairs of subjects corrected together.
///
/// `None` without measurements, and for exact figures, which need no test.
pub fn certainty<'a>(
    phase: &PhaseAnalysis,
    subjects: impl IntoIterator<Item = &'a Subject>,
    family: usize,
) -> Option<Table> {
    let comparison = phase
        .comparison
        .as_ref()
        .filter(|comparison| !comparison.exact)?;
    let subjects: Vec<&Subject> = subjects.into_iter().collect();
    if comparison.is_empty() {
        return None;
    }
    let compare = subjects.len() > 1;
    let mut columns = vec![
        Column::left("Subject"),
        Column::right("Repeats").of("Repeats"),
        Column::right("Mean").of("Mean"),
        Column::right("SD").of("Standard deviation"),
        Column::right("CV").of("Coefficient of variation"),
    ];
    if compare {
        let group = "Against the best";
        columns.extend([
            Column::right("ratio").in_group(group).of("Ratio"),
            Column::right("95 % interval").in_group(group).of("Ratio"),
            Column::right("p").in_group(group).of("p"),
            Column::right("corrected p")
                .in_group(group)
                .of("Corrected p"),
            Column::left("verdict").in_group(group).of("Verdict"),
            Column::right("% of loser").of("Percent of the loser"),
        ]);
    }
    let rows = subjects.iter().enumerate().map(|(index, subject)| {
        let entry = &comparison.entries[index];
        let mut row = vec![subject_cell(index, subject)];
        row.extend(sample(comparison, entry));
        if compare {
            row.extend(against(comparison, index));
        }
        row
    });
    Some(Table {
        caption: format!("How certain the order of {} is", wording::phase(phase.name)),
        columns,
        rows: rows.collect(),
        notes: if compare {
            notes(comparison, family)
        } else {
            Vec::new()
        },
    })
}

fn sample(comparison: &Comparison, entry: &Entry) -> [TableCell; 4] {
    let Some(summary) = entry.summary else {
        return std::array::from_fn(|_| TableCell::nothing());
    };
    let figure = |value: f64| wording::figure(comparison.metric, value);
    [
        TableCell::new(summary.n.to_string()),
        TableCell::new(figure(summary.mean)),
        TableCell::optional(summary.sd.map(figure)),
        TableCell::optional(summary.coefficient_of_variation().map(wording::percent)),
    ]
}

fn against(comparison: &Comparison, subject: usize) -> [TableCell; 6] {
    let entry = &comparison.entries[subject];
    let best = comparison.best.filter(|best| *best != subject);
    let speed = entry.to_best.filter(|_| entry.standing != Standing::Alone);
    let interval = speed
        .and_then(|speed| speed.interval)
        .filter(|_| best.is_some());
    let verdict = speed.and_then(|_| wording::verdict_on(comparison, subject));
    let verdict = match comparison.is_lost_in_correction(subject) {
        true => TableCell::optional(verdict)
            .detail("not after correction")
            .tone(Tone::Weak),
        false => TableCell::optional(verdict),
    };
    [
        TableCell::optional(speed.and_then(|_| against_best(entry))),
        TableCell::optional(interval.map(wording::ratio_interval)),
        TableCell::optional(entry.test.map(|test| wording::p_value(test.p_value))),
        TableCell::optional(entry.p_corrected.map(wording::p_value)),
        verdict,
        TableCell::optional(
            entry
                .percent_of_slowest
                .map(|percent| format!("{percent:.1} %")),
        ),
    ]
}

/// The methods used, which depend on sizes and family.
fn notes(comparison: &Comparison, family: usize) -> Vec<String> {
    let tests: Vec<TestMethod> = comparison
        .entries
        .iter()
        .filter_map(|it| Some(it.test?.method))
        .collect();
    let best = comparison
        .best
        .map(|best| comparison.entries[best].values.len());
    let intervals = comparison
        .entries
        .iter()
        .enumerate()
        .filter_map(|(index, entry)| {
            let other = best.filter(|_| comparison.best != Some(index))?;
            interval_method(entry.values.len(), other)
        });
    let mut intervals: Vec<&str> = intervals.map(IntervalMethod::as_str).collect();
    intervals.sort_unstable();
    intervals.dedup();
    let mut words: Vec<&str> = tests.iter().map(|test| test.as_str()).collect();
    words.sort_unstable();
    words.dedup();
    let mut notes = Vec::new();
    if !intervals.is_empty() {
        let beyond = match comparison.resolution > 0.0 {
            true => format!(
                ", and {} more on either side: no figure of virtual time is taken to be known \
                 better",
                wording::percent(comparison.resolution)
            ),
            false => String::new(),
        };
        notes.push(format!("Intervals: {}{beyond}.", intervals.join("; ")));
    }
    if !words.is_empty() {
        notes.push(format!(
            "p-values: {}; corrected for {} over all headline figures of the run, after \
             Benjamini and Hochberg.",
            words.join("; "),
            wording::count(family, "pair") + " of subjects"
        ));
    }
    notes
}
