//! A table as a drawing.

use super::drawing::Drawing;
use super::numbers::text_width;
use super::svg::{Anchor, Svg};
use crate::{Align, Column, Table, TableCell, Tone};

const ROW: f64 = 20.0;
const PAD: f64 = 9.0;
/// Most rows that are drawn.
const ROWS_MAX: usize = 400;

/// Draws `table`; `None` if it has no rows, or too many.
pub(crate) fn sheet(table: &Table) -> Option<Drawing> {
    if table.rows.is_empty() || table.rows.len() > ROWS_MAX {
        return None;
    }
    let widths: Vec<f64> = (0..table.columns.len()).map(|c| width(table, c)).collect();
    let grouped = table.columns.iter().any(|column| column.group.is_some());
    let head = if grouped { 2.0 * ROW } else { ROW };
    let total: f64 = widths.iter().sum();
    let height = head + ROW * table.rows.len() as f64 + 8.0;
    let mut svg = Svg::with_width(total.max(380.0), height);
    if grouped {
        groups(&mut svg, &table.columns, &widths);
    }
    let mut x = 0.0;
    for (place, (column, width)) in table.columns.iter().zip(&widths).enumerate() {
        text(
            &mut svg,
            "tick",
            column.align,
            (x, *width, head - 6.0),
            &column.title,
        );
        for (index, row) in table.rows.iter().enumerate() {
            let y = head + ROW * index as f64 + 14.0;
            let Some(cell) = row.get(place) else { continue };
            text(
                &mut svg,
                class(cell),
                column.align,
                (x, *width, y),
                &cell.line(),
            );
        }
        x += width;
    }
    svg.line("border", (0.0, head), (total, head));
    for index in 1..=table.rows.len() {
        let y = head + ROW * index as f64;
        svg.line("grid", (0.0, y), (total, y));
    }
    Some(svg.into_drawing(&table.caption))
}

fn class(cell: &TableCell) -> &'static str {
    match cell.tone {
        Tone::Plain => "label",
        Tone::Strong => "value",
        Tone::Weak | Tone::Bad => "none",
    }
}

fn width(table: &Table, place: usize) -> f64 {
    let cells = table.rows.iter().filter_map(|row| row.get(place));
    let widest = cells
        .map(|cell| text_width(&cell.line()))
        .fold(0.0, f64::max);
    widest.max(text_width(&table.columns[place].title)) + 2.0 * PAD
}

fn text(svg: &mut Svg, class: &str, align: Align, (x, width, y): (f64, f64, f64), text: &str) {
    match align {
        Align::Left => svg.text(class, Anchor::Start, (x + PAD, y), text),
        Align::Right => svg.text(class, Anchor::End, (x + width - PAD, y), text),
    }
}

fn groups(svg: &mut Svg, columns: &[Column], widths: &[f64]) {
    let mut x = 0.0;
    let places: Vec<usize> = (0..columns.len()).collect();
    for group in places.chunk_by(|a, b| columns[*a].group == columns[*b].group) {
        let width: f64 = group.iter().map(|place| widths[*place]).sum();
        if let Some(title) = &columns[group[0]].group {
            svg.text("head", Anchor::Middle, (x + width / 2.0, 14.0), title);
            svg.line("grid", (x + PAD, ROW), (x + width - PAD, ROW));
        }
        x += width;
    }
}
