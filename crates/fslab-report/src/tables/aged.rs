//! What filling and ageing cost: each subject with stages beside the same one without.

use fslab_model::Subject;
use fslab_stats::Verdict;

use super::cells::{absence_word, median, subject_cell};
use crate::analysis::EXACT_TOLERANCE;
use crate::wording;
use crate::{Analysis, Column, Comparison, PhaseAnalysis, PhaseCell, Table, TableCell, Tone};

/// What a stage reports of itself, by the end of the fact's name.
const FACTS: [(&str, &str, &str); 6] = [
    ("", "fullness_percent", " % full"),
    ("", "files", " files"),
    ("", "turnover", " times the capacity written"),
    ("layout score ", "layout_score.full", " when full"),
    ("layout score ", "layout_score.aged", " when aged"),
    ("", "fragments_per_file.aged", " fragments a file"),
];

/// For each phase the speed of an aged or filled subject relative to the fresh one, with interval
/// and verdict, and what the stages left behind; `None` where the run has no such pair.
#[must_use]
pub fn aged(analysis: &Analysis) -> Option<Table> {
    let subjects: Vec<&Subject> = analysis.subjects().collect();
    let is_fresh = |aged: &Subject, other: &Subject| {
        other.stages().is_empty()
            && other.fs() == aged.fs()
            && other.mkfs_arguments() == aged.mkfs_arguments()
            && other.mount_options() == aged.mount_options()
    };
    let staged = (0..subjects.len()).filter(|place| !subjects[*place].stages().is_empty());
    let pairs: Vec<(usize, usize)> = staged
        .filter_map(|aged| {
            let fresh = subjects.iter().position(|s| is_fresh(subjects[aged], s))?;
            Some((aged, fresh))
        })
        .collect();
    if pairs.is_empty() {
        return None;
    }
    let rows = pairs.iter().flat_map(|(aged, fresh)| {
        let phases = analysis.phases.iter();
        phases.map(|phase| row((*aged, subjects[*aged]), *fresh, phase))
    });
    let notes = pairs.iter().filter_map(|(aged, _)| {
        let left = left_behind(analysis, *aged);
        (!left.is_empty()).then(|| format!("{}: {}.", subjects[*aged], left.join(", ")))
    });
    Some(Table {
        caption: "Fresh and aged".to_owned(),
        columns: vec![
            Column::left("Subject"),
            Column::left("Phase"),
            Column::right("fresh"),
            Column::right("aged"),
            Column::right("aged / fresh").of("Ratio"),
            Column::right("95 % interval").of("95 % interval"),
            Column::left("Aged it is"),
        ],
        rows: rows.collect(),
        notes: notes.collect(),
    })
}

fn row((aged, subject): (usize, &Subject), fresh: usize, phase: &PhaseAnalysis) -> Vec<TableCell> {
    let figure = |place: usize| {
        let comparison = phase.comparison.as_ref();
        let found = comparison.and_then(|c| Some((c, c.entries.get(place)?)));
        match found.filter(|(_, entry)| entry.summary.is_some()) {
            // Who is the best of all subjects is not the question here.
            Some((comparison, entry)) => median(comparison, entry).tone(Tone::Plain),
            None => {
                let reason = phase.cells.get(place).and_then(PhaseCell::absence);
                let word = reason.as_deref().map_or(wording::NOTHING, absence_word);
                TableCell::new(word).tone(Tone::Weak)
            }
        }
    };
    let mut row = vec![
        subject_cell(aged, subject),
        TableCell::new(wording::phase(phase.name)),
        figure(fresh),
        figure(aged),
    ];
    row.extend(against(phase.comparison.as_ref(), aged, fresh));
    row
}

/// Ratio, interval and verdict of `aged` against `fresh`.
fn against(comparison: Option<&Comparison>, aged: usize, fresh: usize) -> [TableCell; 3] {
    let found = comparison.and_then(|c| Some((c, c.speed(aged, fresh)?)));
    let Some((comparison, speed)) = found else {
        return std::array::from_fn(|_| TableCell::nothing());
    };
    let interval = match speed.interval {
        _ if comparison.exact => TableCell::new("exact").tone(Tone::Weak),
        Some(interval) => TableCell::new(wording::ratio_interval(interval)),
        None => TableCell::nothing(),
    };
    let verdict = match comparison.verdict(aged, fresh) {
        _ if comparison.exact && (speed.value - 1.0).abs() < EXACT_TOLERANCE => {
            TableCell::new("the same within 1 %")
        }
        Verdict::Faster => TableCell::new("faster"),
        Verdict::Slower => TableCell::new("slower").tone(Tone::Bad),
        Verdict::Same { within } => {
            TableCell::new(format!("the same within {:.0} %", within * 100.0))
        }
        Verdict::Undecided => TableCell::new("not decided").tone(Tone::Weak),
    };
    [
        TableCell::new(wording::ratio(speed.value)),
        interval,
        verdict,
    ]
}

/// What the stages of a subject left behind, from the least to the most of its repeats.
fn left_behind(analysis: &Analysis, subject: usize) -> Vec<String> {
    let mut told = Vec::new();
    for (before, name, behind) in FACTS {
        let values: Vec<f64> = analysis
            .trials_of(subject)
            .flat_map(|trial| &trial.facts)
            .filter(|(fact, _)| fact.split_once('.').is_some_and(|(_, rest)| rest == name))
            .filter_map(|(_, value)| value.parse().ok())
            .filter(|value: &f64| value.is_finite())
            .collect();
        let (Some(low), Some(high)) = (
            values.iter().copied().reduce(f64::min),
            values.iter().copied().reduce(f64::max),
        ) else {
            continue;
        };
        let text = match (number(low), number(high)) {
            (low, high) if low == high => low,
            (low, high) => format!("{low} to {high}"),
        };
        told.push(format!("{before}{text}{behind}"));
    }
    told
}

fn number(value: f64) -> String {
    if value >= 1000.0 {
        wording::thousands(value)
    } else {
        let text = format!("{value:.3}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    }
}
