//! What filling and ageing cost: each subject with stages beside the same one without.

use fslab_model::Subject;
use fslab_stats::{CONFIDENCE, Verdict, benjamini_hochberg, difference_test_among};

use super::cells::{absence_word, median, subject_cell};
use crate::analysis::EXACT_TOLERANCE;
use crate::wording;
use crate::{Analysis, Column, PhaseAnalysis, PhaseCell, Table, TableCell, Tone};

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
    let held: Vec<Held> = pairs
        .iter()
        .flat_map(|(aged, fresh)| {
            let phases = analysis.phases.iter();
            phases.map(|phase| Held {
                aged: *aged,
                fresh: *fresh,
                phase,
            })
        })
        .collect();
    let corrected = benjamini_hochberg(&tests(&held));
    let rows = held
        .iter()
        .zip(corrected)
        .map(|(held, p)| row(held, subjects[held.aged], p));
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

/// An aged subject, held against the fresh one in a phase.
struct Held<'a> {
    aged: usize,
    fresh: usize,
    phase: &'a PhaseAnalysis<'a>,
}

/// The p-value of each; not a number where there are too few repeats, or figures are exact.
fn tests(held: &[Held]) -> Vec<f64> {
    let testable = |held: &&Held| {
        let comparison = held.phase.comparison.as_ref().filter(|it| !it.exact);
        comparison.is_some_and(|it| it.speed(held.aged, held.fresh).is_some())
    };
    let family = held.iter().filter(testable).count();
    let test = |held: &Held| {
        let comparison = held.phase.comparison.as_ref().filter(|it| !it.exact)?;
        let values = |place: usize| comparison.entries.get(place).map(|it| &it.values);
        difference_test_among(values(held.aged)?, values(held.fresh)?, family)
    };
    let p_value = |held: &Held| test(held).map_or(f64::NAN, |test| test.p_value);
    held.iter().map(p_value).collect()
}

fn row(held: &Held, subject: &Subject, p_corrected: f64) -> Vec<TableCell> {
    let Held { aged, fresh, phase } = *held;
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
    row.extend(against(held, p_corrected));
    row
}

/// Ratio, interval and verdict of the aged subject against the fresh one.
fn against(held: &Held, p_corrected: f64) -> [TableCell; 3] {
    let Held { aged, fresh, phase } = *held;
    let comparison = phase.comparison.as_ref();
    let found = comparison.and_then(|c| Some((c, c.speed(aged, fresh)?)));
    let Some((comparison, speed)) = found else {
        return std::array::from_fn(|_| TableCell::nothing());
    };
    let interval = match speed.interval {
        _ if comparison.exact => TableCell::new("exact").tone(Tone::Weak),
        Some(interval) => TableCell::new(wording::ratio_interval(interval)),
        None => TableCell::nothing(),
    };
    let found = comparison.interval_verdict(aged, fresh);
    let lost = p_corrected > 1.0 - CONFIDENCE;
    let verdict = match found {
        _ if comparison.exact && (speed.value - 1.0).abs() < EXACT_TOLERANCE => {
            TableCell::new("the same within 1 %")
        }
        Verdict::Faster | Verdict::Slower if lost => {
            TableCell::new(wording::verdict(Verdict::Undecided))
                .detail("not after correction")
                .tone(Tone::Weak)
        }
        Verdict::Slower => TableCell::new(wording::verdict(found)).tone(Tone::Bad),
        Verdict::Undecided => TableCell::new(wording::verdict(found)).tone(Tone::Weak),
        Verdict::Faster | Verdict::Same { .. } => TableCell::new(wording::verdict(found)),
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
