//! The cost of filling and ageing: each subject with stages beside the same one without.

use fslab_compare::{AgedContrast, Analysis, PhaseCell};
use fslab_model::Subject;
use fslab_stats::Verdict;

use super::cells::{absence_word, mean, subject_cell};
use crate::wording;
use crate::{Column, Table, TableCell, Tone};

/// The facts that a stage reports, by suffix.
const FACTS: [(&str, &str, &str); 6] = [
    ("", "fullness_percent", " % full"),
    ("", "files", " files"),
    ("", "turnover", " times the capacity written"),
    ("layout score ", "layout_score.full", " when full"),
    ("layout score ", "layout_score.aged", " when aged"),
    ("", "fragments_per_file.aged", " fragments a file"),
];

/// For each phase the speed of an aged or filled subject relative to the fresh one, with interval
/// and verdict, and the facts of the stages; `None` if the run has no such pair.
pub fn aged(analysis: &Analysis) -> Option<Table> {
    let pairs = analysis.aged_pairs();
    if pairs.is_empty() {
        return None;
    }
    let subjects: Vec<&Subject> = analysis.subjects().collect();
    let contrasts = analysis.aged();
    let rows = contrasts.iter().map(|it| row(it, subjects[it.aged]));
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
            Column::left("Aged it is").of("Verdict"),
        ],
        rows: rows.collect(),
        notes: notes.collect(),
    })
}

fn row(contrast: &AgedContrast, subject: &Subject) -> Vec<TableCell> {
    let AgedContrast {
        aged, fresh, phase, ..
    } = *contrast;
    let figure = |place: usize| {
        let comparison = phase.comparison.as_ref();
        let found = comparison.and_then(|c| Some((c, c.entries.get(place)?)));
        match found.filter(|(_, entry)| entry.summary.is_some()) {
            // The best of all subjects is not marked here.
            Some((comparison, entry)) => mean(comparison, entry).tone(Tone::Plain),
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
    row.extend(against(contrast));
    row
}

/// Ratio, interval and verdict of the aged subject against the fresh one.
fn against(contrast: &AgedContrast) -> [TableCell; 3] {
    let (Some(speed), Some(found)) = (contrast.speed, contrast.verdict) else {
        return std::array::from_fn(|_| TableCell::nothing());
    };
    let comparison = contrast.phase.comparison.as_ref();
    let exact = comparison.is_some_and(|it| it.exact);
    let interval = match speed.interval {
        _ if exact => TableCell::new("exact").tone(Tone::Weak),
        Some(interval) => TableCell::new(wording::ratio_interval(interval)),
        None => TableCell::nothing(),
    };
    let cell = TableCell::new(wording::verdict(found));
    let verdict = match found {
        Verdict::Undecided if contrast.is_lost_in_correction => {
            cell.detail("not after correction").tone(Tone::Weak)
        }
        Verdict::Slower => cell.tone(Tone::Bad),
        Verdict::Undecided => cell.tone(Tone::Weak),
        Verdict::Faster | Verdict::Same { .. } => cell,
    };
    [
        TableCell::new(wording::ratio(speed.value)),
        interval,
        verdict,
    ]
}

/// The facts of a subject's stages, as a range over its repeats.
fn left_behind(analysis: &Analysis, subject: usize) -> Vec<String> {
    let mut found = Vec::new();
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
        found.push(format!("{before}{text}{behind}"));
    }
    found
}

fn number(value: f64) -> String {
    if value >= 1000.0 {
        wording::thousands(value)
    } else {
        let text = format!("{value:.3}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    }
}
