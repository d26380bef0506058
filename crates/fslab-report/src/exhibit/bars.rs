//! Bars: a group for each phase, or for each value of a dimension.

use fslab_compare::{PhaseAnalysis, PhaseCell, Spread, by_value, spread_over};
use fslab_model::{Better, PhaseRecord};

use super::content::{Content, Value, phase_title};
use super::published::{NOTE, PublishedFigures};
use super::selection::{Selected, Selection};
use crate::chart::{Bar, BarGroup, GroupedBars};
use crate::{Column, Table, TableCell, wording};

pub(super) fn draw(selection: &Selection, originals: &PublishedFigures) -> Result<Content, String> {
    let mut chart = GroupedBars {
        groups: Vec::new(),
        cap: selection.cap()?,
    };
    let mut content = Content::default();
    let mut columns = vec![Column::left("")];
    let subjects = selection.names().enumerate();
    columns.extend(subjects.map(|(index, name)| Column::right(name).about(index)));
    let mut rows = Vec::new();
    for selected in &selection.phases {
        for (x, title, points) in groups(selection, selected) {
            let spreads = spread_over(&points, selected.metric, selection.labels.len());
            let mut row = vec![TableCell::new(title.clone())];
            for (name, spread) in selection.names().zip(&spreads) {
                let mean = spread.map(|[mean, ..]| mean);
                let place = (selected.phase.name, name, x.as_str());
                content.values.push(Value::of(place, selected.metric, mean));
                let figure = mean.map(|mean| wording::figure(selected.metric, mean));
                row.push(TableCell::optional(figure));
            }
            rows.push(row);
            chart.groups.push(group(
                selection,
                selected,
                (title, &points),
                &spreads,
                originals,
            ));
        }
    }
    let few = selection.phases.len() == 1 && selection.spec.over.is_none();
    if few {
        chart.groups.iter_mut().for_each(sort);
    }
    content.notes.extend(notes(&chart));
    content.drawing = chart.draw();
    if content.drawing.is_none() {
        let reasons = chart.groups.iter().filter_map(|group| group.bars.first());
        let mut reasons: Vec<String> = reasons.map(|bar| bar.absence.clone()).collect();
        reasons.dedup();
        content
            .notes
            .push(format!("There is no bar: {}.", reasons.join("; ")));
    }
    content.tables.push(Table {
        caption: selection.spec.title.clone(),
        columns,
        rows,
        notes: Vec::new(),
    });
    Ok(content)
}

/// The groups of a phase: place, title, points.
fn groups<'s, 'a>(
    selection: &Selection,
    selected: &Selected<'s, 'a>,
) -> Vec<(String, String, Vec<&'s PhaseAnalysis<'a>>)> {
    let title = phase_title(selected.phase.name);
    let Some(over) = selection.spec.over.as_deref() else {
        return vec![(String::new(), title, selected.points.clone())];
    };
    let several = selection.phases.len() > 1;
    let columns = by_value(&selected.points, over).into_iter();
    columns
        .map(|(value, points)| {
            let value_title = format!("{value} {}", wording::phase(over));
            let title = match several {
                true => format!("{title}, {value_title}"),
                false => value_title,
            };
            (value.number().to_string(), title, points)
        })
        .collect()
}

/// The bars of a group, with the places of the published figures.
pub(super) fn group<'s>(
    selection: &Selection<'s, '_>,
    selected: &Selected,
    (title, points): (String, &[&PhaseAnalysis]),
    spreads: &[Option<Spread>],
    originals: &PublishedFigures,
) -> BarGroup<'s> {
    let metric = selected.metric;
    let published = selection.analysis.subjects();
    let published = published.map(|s| originals.value(s, selected.phase.name, metric));
    let pairs: Vec<_> = published
        .zip(spreads)
        .map(|(then, now)| (then, now.map(|[mean, ..]| mean)))
        .collect();
    let places = PublishedFigures::scaled(&pairs, metric.better == Better::Lower);
    let absence = |subject: usize| {
        let cell = points.first().and_then(|point| point.cells.get(subject));
        let idle =
            |record: &PhaseRecord| record.elapsed_ns == Some(0) || record.took_no_device_time();
        match cell.and_then(PhaseCell::absence) {
            Some(reason) => reason,
            None if cell.is_some_and(|cell| cell.done().any(idle)) => "took no time".to_owned(),
            None => "no such figure".to_owned(),
        }
    };
    let bars = selection
        .labels
        .iter()
        .enumerate()
        .map(|(subject, label)| Bar {
            label,
            value: spreads.get(subject).copied().flatten(),
            absence: absence(subject),
            published: places.get(subject).copied().flatten(),
        });
    BarGroup {
        title,
        metric,
        bars: bars.collect(),
    }
}

/// Sorts by value, the best first; bars without a value last.
pub(super) fn sort(group: &mut BarGroup) {
    let sign = match group.metric.better {
        Better::Lower => 1.0,
        Better::Higher | Better::Neither => -1.0,
    };
    let key = |bar: &Bar| bar.value.map_or(f64::INFINITY, |[mean, ..]| sign * mean);
    group.bars.sort_by(|a, b| key(a).total_cmp(&key(b)));
}

/// The notes below the bars.
pub(super) fn notes(chart: &GroupedBars) -> Vec<String> {
    let mut notes = Vec::new();
    let mut bars = chart.groups.iter().flat_map(|group| &group.bars);
    if bars.any(|bar| bar.published.is_some()) {
        notes.push(NOTE.to_owned());
    }
    if let (Some(cap), Some(group)) = (chart.cap, chart.groups.first()) {
        let values = group_values(chart);
        if values.into_iter().any(|value| value > cap) {
            let cap = wording::figure(group.metric, cap);
            notes.push(format!(
                "Bars end at {cap}; the figure behind a cut bar is the true one."
            ));
        }
    }
    notes
}

fn group_values(chart: &GroupedBars) -> Vec<f64> {
    let bars = chart.groups.iter().flat_map(|group| &group.bars);
    bars.filter_map(|bar| bar.value.map(|[mean, ..]| mean))
        .collect()
}
