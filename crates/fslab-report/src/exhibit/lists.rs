//! Lists: the values of a list of the phases, a line for each subject.

use fslab_compare::PhaseAnalysis;
use fslab_model::ValueList;

use super::content::{Content, Value, phase_title};
use super::selection::Selection;
use crate::chart::{Drawing, Label, Line, Plot, Quantity, Spot};
use crate::{Column, Table, TableCell};

const WIDTH: f64 = 760.0;
/// Rows of the table; the CSV has all.
const ROWS_MAX: usize = 48;

pub(super) fn draw(selection: &Selection) -> Result<Content, String> {
    let name = selection.spec.list.as_deref();
    let name = name.ok_or("it names no list")?;
    let mut content = Content {
        needs_legend: true,
        ..Content::default()
    };
    let mut drawings = Vec::new();
    for selected in &selection.phases {
        for point in &selected.points {
            let lists = lists_of(point, name);
            let Some(first) = lists.iter().flatten().next() else {
                continue;
            };
            let title = phase_title(point.name);
            let plot = plot(selection.labels, &lists, first, WIDTH);
            drawings.extend(plot.draw().map(|drawing| (title.clone(), drawing)));
            content
                .tables
                .push(tabulate(selection, &lists, first, &title));
            for (subject, list) in selection.names().zip(&lists) {
                let points = list.iter().flat_map(|list| &list.points);
                content.values.extend(points.map(|(x, y)| Value {
                    phase: point.name.to_owned(),
                    subject: subject.to_owned(),
                    x: x.to_string(),
                    what: name.to_owned(),
                    value: Some(*y),
                    unit: "",
                }));
            }
        }
    }
    if content.tables.is_empty() {
        return Err(format!("no phase has a list '{name}'"));
    }
    content.drawing = Drawing::stacked(drawings);
    Ok(content)
}

/// Each subject's list of that name, from its first repeat that has one.
pub(crate) fn lists_of<'a>(phase: &PhaseAnalysis<'a>, name: &str) -> Vec<Option<&'a ValueList>> {
    let of = |lists: &'a [ValueList]| lists.iter().find(|list| list.name == name);
    let cells = phase.cells.iter();
    cells
        .map(|cell| cell.done().find_map(|record| of(&record.lists)))
        .collect()
}

/// The lists as lines.
pub(crate) fn plot<'s>(
    labels: &'s [Label],
    lists: &[Option<&ValueList>],
    first: &ValueList,
    width: f64,
) -> Plot<'s> {
    let lines = labels.iter().zip(lists).filter_map(|(label, list)| {
        let spot = |(x, y): &(f64, f64)| Spot {
            x: *x,
            y: Some([*y; 3]),
        };
        Some(Line {
            label,
            spots: list.as_ref()?.points.iter().map(spot).collect(),
        })
    });
    Plot {
        width,
        x: Quantity::plain(first.x.clone()),
        y: Quantity::plain(first.y.clone()),
        lines: lines.collect(),
        marks: Vec::new(),
    }
}

fn tabulate(
    selection: &Selection,
    lists: &[Option<&ValueList>],
    first: &ValueList,
    title: &str,
) -> Table {
    let mut xs: Vec<f64> = lists
        .iter()
        .flatten()
        .flat_map(|list| list.points.iter().map(|(x, _)| *x))
        .collect();
    xs.sort_by(f64::total_cmp);
    xs.dedup();
    let mut columns = vec![Column::right(&first.x)];
    let subjects = selection.names().enumerate();
    columns.extend(subjects.map(|(index, name)| Column::right(name).about(index)));
    let value = |list: &Option<&ValueList>, x: f64| {
        let points = list.as_ref()?.points.iter();
        let mut found = points.filter(|(known, _)| known.total_cmp(&x).is_eq());
        found.next().map(|(_, y)| *y)
    };
    let rows = xs.iter().take(ROWS_MAX).map(|x| {
        let mut row = vec![TableCell::new(x.to_string())];
        let cells = lists.iter().map(|list| value(list, *x));
        row.extend(cells.map(|y| TableCell::optional(y.map(|y| y.to_string()))));
        row
    });
    let more = xs.len().saturating_sub(ROWS_MAX);
    Table {
        caption: format!("{title}: {}", first.y),
        columns,
        rows: rows.collect(),
        notes: (more > 0)
            .then(|| format!("{more} more rows are in the CSV and in the drawing."))
            .into_iter()
            .collect(),
    }
}
