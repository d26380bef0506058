//! The loser table: for each subject the mean, its percent of the slowest subject's (the loser's),
//! the standard deviation and its percent of the largest; for a phase, its unmount and their sum.

use fslab_compare::{Repeat, RepeatState};
use fslab_model::definitions::{ELAPSED, SETTLE_SYNC, SETTLE_UNMOUNT, TOTAL};
use fslab_model::{CellId, MetricDefinition};
use fslab_stats::Summary;

use super::content::{Content, Value, phase_title};
use super::published::{NOTE, PublishedFigures};
use super::selection::{Selected, Selection};
use crate::chart::{Bar, BarGroup, GroupedBars};
use crate::{Column, Table, TableCell, Tone};

/// The parts of a phase's time.
const PARTS: [&str; 3] = ["run", "unmount", "total"];

pub(super) fn draw(selection: &Selection, originals: &PublishedFigures) -> Result<Content, String> {
    let mut content = Content::default();
    let complete = CompleteRepeats::of(selection);
    let mut chart = GroupedBars {
        groups: Vec::new(),
        cap: selection.cap()?,
    };
    for selected in &selection.phases {
        let summaries: Vec<[Option<Summary>; 3]> = (0..selection.labels.len())
            .map(|subject| PARTS.map(|part| complete.summary(selected, subject, part)))
            .collect();
        let table = table(selection, &complete, selected, &summaries);
        content.tables.push(table);
        for (name, parts) in selection.names().zip(&summaries) {
            for (part, summary) in PARTS.iter().zip(parts) {
                for (what, value) in [
                    ("mean_ns", summary.map(|s| s.mean)),
                    ("sd_ns", summary.and_then(|s| s.sd)),
                ] {
                    content.values.push(Value {
                        phase: selected.phase.name.to_owned(),
                        subject: name.to_owned(),
                        x: (*part).to_owned(),
                        what: what.to_owned(),
                        value,
                        unit: "ns",
                    });
                }
            }
        }
        chart
            .groups
            .push(group(selection, selected, &summaries, originals));
    }
    if chart
        .groups
        .iter()
        .flat_map(|group| &group.bars)
        .any(|bar| bar.published.is_some())
    {
        content.notes.push(NOTE.to_owned());
    }
    content.notes.push(
        "Means, deviations and percentages are of the repeats in which every phase of the table \
         ran to its end; how many these are stands beside each subject."
            .to_owned(),
    );
    content.drawing = chart.draw();
    Ok(content)
}

/// The repeats of each subject that completed all phases.
struct CompleteRepeats(Vec<Vec<u32>>);

impl CompleteRepeats {
    fn of(selection: &Selection) -> Self {
        let is_done = |subject: usize, repeat: u32| {
            selection
                .phases
                .iter()
                .flat_map(|s| &s.points)
                .all(|point| {
                    let repeats = point.cells.get(subject).map(|cell| &cell.repeats);
                    let mut found = repeats.into_iter().flatten().filter(|r| r.repeat == repeat);
                    found.any(|repeat| matches!(repeat.state, RepeatState::Done(_)))
                })
        };
        let of = |subject| {
            (0..repeats(selection, subject))
                .filter(|repeat| is_done(subject, *repeat))
                .collect()
        };
        Self((0..selection.labels.len()).map(of).collect())
    }

    fn count(&self, subject: usize) -> usize {
        self.0.get(subject).map_or(0, Vec::len)
    }

    fn summary(&self, selected: &Selected, subject: usize, part: &str) -> Option<Summary> {
        let repeats = &selected.points.first()?.cells.get(subject)?.repeats;
        let complete = repeats
            .iter()
            .filter(|repeat| self.0[subject].contains(&repeat.repeat));
        let values: Vec<f64> = complete.filter_map(|repeat| time(repeat, part)).collect();
        Summary::of(&values)
    }
}

/// The repeats of the subject in this place.
fn repeats(selection: &Selection, subject: usize) -> u32 {
    selection.analysis.run.repeats(CellId::at(subject))
}

/// A part of a repeat's time.
fn time(repeat: &Repeat, part: &str) -> Option<f64> {
    let value = |metric: &MetricDefinition| repeat.value(metric);
    match part {
        "run" => value(&ELAPSED),
        "unmount" => Some(value(&SETTLE_SYNC)? + value(&SETTLE_UNMOUNT)?),
        _ => value(&TOTAL),
    }
}

fn group<'s>(
    selection: &Selection<'s, '_>,
    selected: &Selected,
    summaries: &[[Option<Summary>; 3]],
    originals: &PublishedFigures,
) -> BarGroup<'s> {
    // A phase that does not settle has no total.
    let settles = summaries.iter().any(|parts| parts[2].is_some());
    let (part, metric) = if settles { (2, &TOTAL) } else { (0, &ELAPSED) };
    let published = selection.analysis.subjects();
    let published = published.map(|s| originals.value(s, selected.phase.name, metric));
    let pairs: Vec<_> = published
        .zip(summaries)
        .map(|(then, now)| (then, now[part].map(|summary| summary.mean)))
        .collect();
    let places = PublishedFigures::scaled(&pairs, true);
    let bar = |(subject, label)| {
        let summary = summaries
            .get(subject)
            .and_then(|parts: &[Option<Summary>; 3]| parts[part]);
        Bar {
            label,
            value: summary.map(|summary| [summary.mean, summary.min, summary.max]),
            absence: "no repeat came through all phases".to_owned(),
            published: places.get(subject).copied().flatten(),
        }
    };
    BarGroup {
        title: format!("{}: {}", phase_title(selected.phase.name), PARTS[part]),
        metric,
        bars: selection.labels.iter().enumerate().map(bar).collect(),
    }
}

fn table(
    selection: &Selection,
    complete: &CompleteRepeats,
    selected: &Selected,
    summaries: &[[Option<Summary>; 3]],
) -> Table {
    let mut columns = vec![Column::left("Subject"), Column::right("runs")];
    for part in PARTS {
        columns.extend(
            ["mean", "% loser", "SD", "% largest SD"].map(|c| Column::right(c).in_group(part)),
        );
    }
    let largest = |part: usize, of: fn(&Summary) -> Option<f64>| {
        let found = summaries
            .iter()
            .filter_map(|parts| of(parts[part].as_ref()?));
        found.reduce(f64::max)
    };
    let figures = |parts: &[Option<Summary>; 3]| -> Vec<[Option<f64>; 4]> {
        (0..PARTS.len())
            .map(|part| {
                let mean = parts[part].map(|summary| summary.mean);
                let sd = parts[part].and_then(|summary| summary.sd);
                let of_loser = largest(part, |summary| Some(summary.mean));
                let of_largest = largest(part, |summary| summary.sd);
                [mean, percent(mean, of_loser), sd, percent(sd, of_largest)]
            })
            .collect()
    };
    // Small scales are fast: if no mean reaches a second, more decimals are shown.
    let means = summaries
        .iter()
        .flatten()
        .flatten()
        .map(|summary| summary.mean);
    let digits = if means.fold(0.0, f64::max) < 1e9 {
        4
    } else {
        2
    };
    let all: Vec<Vec<[Option<f64>; 4]>> = summaries.iter().map(figures).collect();
    let mut rows = Vec::new();
    for (subject, (name, figures)) in selection.names().zip(&all).enumerate() {
        let done = complete.count(subject);
        let planned = repeats(selection, subject);
        let runs = TableCell::new(format!("{done} of {planned}"));
        let tone = if done < planned as usize {
            Tone::Bad
        } else {
            Tone::Plain
        };
        let head = TableCell::new(name).about(subject);
        rows.push(row(vec![head, runs.tone(tone)], figures, digits));
    }
    let mean: Vec<[Option<f64>; 4]> = (0..PARTS.len())
        .map(|part| std::array::from_fn(|column| mean_of(all.iter().map(|f| f[part][column]))))
        .collect();
    let head = vec![TableCell::new("mean"), TableCell::new("")];
    rows.push(row(head, &mean, digits));
    Table {
        caption: phase_title(selected.phase.name),
        columns,
        rows,
        notes: Vec::new(),
    }
}

fn row(mut row: Vec<TableCell>, figures: &[[Option<f64>; 4]], digits: usize) -> Vec<TableCell> {
    for [mean, of_loser, sd, of_largest] in figures {
        let time = |ns: &Option<f64>| match ns {
            Some(ns) => TableCell::new(minutes(*ns, digits)),
            None => TableCell::nothing(),
        };
        let share = |share: &Option<f64>| match share {
            Some(share) => TableCell::new(format!("{share:.2}")),
            None => TableCell::nothing(),
        };
        row.extend([time(mean), share(of_loser), time(sd), share(of_largest)]);
    }
    row
}

/// `value` in percent of `of`.
fn percent(value: Option<f64>, of: Option<f64>) -> Option<f64> {
    let of = of.filter(|of| *of > 0.0)?;
    Some(100.0 * value? / of)
}

fn mean_of(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let values: Vec<f64> = values.flatten().collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// A time as `mm:ss.hh`, with so many decimals.
fn minutes(ns: f64, digits: usize) -> String {
    // Rounded before it is split into minutes and seconds; otherwise 59.999 s would become
    // 00:60.00.
    let steps = 10_f64.powi(i32::try_from(digits).unwrap_or_default());
    let rounded = (ns / 1e9 * steps).round() / steps;
    let minutes = (rounded / 60.0).floor();
    let width = digits + 3;
    format!(
        "{minutes:02.0}:{:0width$.digits$}",
        rounded - 60.0 * minutes
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_read_as_minutes_and_hundredths() {
        assert_eq!(minutes(274.83e9, 2), "04:34.83");
        assert_eq!(minutes(59.999e9, 2), "01:00.00");
        assert_eq!(minutes(4.79e9, 2), "00:04.79");
        assert_eq!(minutes(0.012_34e9, 4), "00:00.0123");
        assert_eq!(minutes(0.0, 2), "00:00.00");
        assert_eq!(minutes(36_000e9, 2), "600:00.00");
    }
}
