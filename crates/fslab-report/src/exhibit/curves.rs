//! Curves: a plot for each phase, a line for each subject.

use fslab_compare::{PhaseCell, by_value, spread_over};
use fslab_model::PhaseRecord;

use super::content::{Content, Value, phase_title};
use super::selection::{Selected, Selection};
use crate::chart::Drawing;
use crate::{Column, Table, TableCell, Tone, curves, wording};

/// Width of a plot alone in its row.
const WIDTH: f64 = 760.0;

pub(super) fn draw(selection: &Selection) -> Result<Content, String> {
    let over = over(selection)?;
    let mut content = Content {
        needs_legend: true,
        ..Content::default()
    };
    let mut drawings = Vec::new();
    for selected in &selection.phases {
        let run = selection.analysis.run;
        let along = (over, selected.metric);
        let plot = curves::over(run, selection.labels, &selected.points, along, WIDTH);
        let title = phase_title(selected.phase.name);
        drawings.extend(plot.draw().map(|drawing| (title, drawing)));
        tabulate(selection, selected, over, &mut content);
    }
    if drawings.is_empty() {
        content.notes.push("No point has a figure.".to_owned());
    }
    content.notes.extend(mean_note(selection, over));
    content.notes.extend(idle_note(selection));
    content.drawing = Drawing::stacked(drawings);
    Ok(content)
}

fn over<'s>(selection: &Selection<'s, '_>) -> Result<&'s str, String> {
    let longest = || {
        let sweeps = selection
            .phases
            .iter()
            .filter_map(|s| s.phase.sweep.as_ref());
        sweeps
            .filter_map(|sweep| sweep.dimensions.first())
            .map(|first| first.name)
            .next()
    };
    let over = selection.spec.over.as_deref().or_else(longest);
    let over = over.ok_or("none of its phases is swept, and a curve needs a dimension")?;
    let has = |selected: &Selected| {
        let mut points = selected.points.iter().filter_map(|phase| phase.point);
        points.any(|point| point.contains_key(over))
    };
    if selection.phases.iter().any(has) {
        Ok(over)
    } else {
        Err(format!("none of its phases is swept over '{over}'"))
    }
}

/// The note if points differ in other dimensions than the axis.
fn mean_note(selection: &Selection, over: &str) -> Option<String> {
    let several = |selected: &&Selected| {
        let columns = by_value(&selected.points, over);
        columns.iter().any(|(_, points)| points.len() > 1)
    };
    selection.phases.iter().find(several).map(|_| {
        "A value is the geometric mean over the points of the dimensions that are not drawn."
            .to_owned()
    })
}

/// The note on curves that begin late.
fn idle_note(selection: &Selection) -> Option<String> {
    let points = selection
        .phases
        .iter()
        .flat_map(|selected| &selected.points);
    let mut records = points
        .flat_map(|point| &point.cells)
        .flat_map(PhaseCell::done);
    records.any(PhaseRecord::took_no_device_time).then(|| {
        "Where nothing waited for the disk there is no value: in virtual time nothing else takes \
         any."
            .to_owned()
    })
}

fn tabulate(selection: &Selection, selected: &Selected, over: &str, content: &mut Content) {
    let mut columns = vec![Column::right(wording::phase(over))];
    let subjects = selection.names().enumerate();
    columns.extend(subjects.map(|(index, name)| Column::right(name).about(index)));
    let mut rows = Vec::new();
    for (value, points) in by_value(&selected.points, over) {
        let spreads = spread_over(&points, selected.metric, selection.labels.len());
        let mut row = vec![TableCell::new(value.to_string())];
        for (name, spread) in selection.names().zip(spreads) {
            let mean = spread.map(|[mean, ..]| mean);
            row.push(match mean {
                Some(mean) => TableCell::new(wording::figure(selected.metric, mean)),
                None => TableCell::nothing().tone(Tone::Weak),
            });
            let x = value.number().to_string();
            let place = (selected.phase.name, name, x.as_str());
            content.values.push(Value::of(place, selected.metric, mean));
        }
        rows.push(row);
    }
    content.tables.push(Table {
        caption: format!(
            "{}: {}",
            phase_title(selected.phase.name),
            selected.metric.title
        ),
        columns,
        rows,
        notes: Vec::new(),
    });
}
