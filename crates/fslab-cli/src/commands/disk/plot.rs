//! A curve on the terminal: a grid of characters, with a marker and a colour for each line.

use fslab_disk::bench::{Curve, CurvePoint};
use fslab_report::{CurveAxis, curve_axes};
use owo_colors::OwoColorize;

const COLUMNS: usize = 72;
const ROWS: usize = 15;
/// Columns of the labels at the left.
const MARGIN: usize = 12;
const MARKERS: [char; 6] = ['●', '○', '▲', '△', '■', '□'];
/// Connects two points.
const CONNECTOR: char = '·';

/// The curve with its title, legend and axes.
pub(crate) fn plot(curve: &Curve, coloured: bool) -> String {
    let mut text = format!("{}\n", curve.title);
    let Some((x, y)) = curve_axes(curve, COLUMNS, ROWS) else {
        text.push_str("no points\n");
        return text;
    };
    let grid = draw_grid(curve, &x, &y);
    let legend: Vec<_> = curve
        .lines
        .iter()
        .enumerate()
        .map(|(index, line)| format!("{} {}", styled(marker(index), index, coloured), line.name))
        .collect();
    text.push_str(&format!("{:MARGIN$}   {}\n", "", legend.join("   ")));
    let mut labels = vec![String::new(); ROWS];
    for (row, label) in y.labels() {
        labels[cell(row)] = label;
    }
    for (label, cells) in labels.iter().zip(&grid) {
        let edge = if label.is_empty() { '│' } else { '┤' };
        text.push_str(&format!("{label:>MARGIN$} {edge}"));
        text.push_str(line(cells, coloured).trim_end());
        text.push('\n');
    }
    text.push_str(&axis(&x, &y));
    text
}

/// The column or row of a place, which is within the axis.
fn cell(place: f64) -> usize {
    place.round() as usize
}

fn marker(line: usize) -> char {
    MARKERS[line % MARKERS.len()]
}

/// A character and the index of its line.
type Cell = Option<(char, usize)>;

fn draw_grid(curve: &Curve, x: &CurveAxis, y: &CurveAxis) -> Vec<Vec<Cell>> {
    let mut grid = vec![vec![None; COLUMNS]; ROWS];
    let place = |point: &CurvePoint| (x.at(point.x), y.at(point.y));
    for (index, line) in curve.lines.iter().enumerate() {
        let places: Vec<_> = line.points.iter().map(place).collect();
        for pair in places.windows(2) {
            connect(&mut grid, index, pair[0], pair[1]);
        }
    }
    // Points after connectors, and those of the first line last, so that it hides the others.
    for (index, line) in curve.lines.iter().enumerate().rev() {
        for (column, row) in line.points.iter().map(place) {
            grid[cell(row)][cell(column)] = Some((marker(index), index));
        }
    }
    grid
}

/// Connects two points, with one character per column.
fn connect(grid: &mut [Vec<Cell>], line: usize, from: (f64, f64), to: (f64, f64)) {
    let (first, last) = (cell(from.0), cell(to.0));
    let width = last.saturating_sub(first);
    for step in 1..width {
        let share = step as f64 / width as f64;
        let row = cell(from.1 + share * (to.1 - from.1));
        grid[row][first + step].get_or_insert((CONNECTOR, line));
    }
}

fn line(cells: &[Cell], coloured: bool) -> String {
    let cells = cells.iter().map(|cell| match cell {
        Some((marker, line)) => styled(*marker, *line, coloured),
        None => " ".to_owned(),
    });
    cells.collect()
}

fn styled(marker: char, line: usize, coloured: bool) -> String {
    if !coloured {
        return marker.to_string();
    }
    match line % 4 {
        0 => marker.blue().to_string(),
        1 => marker.yellow().to_string(),
        2 => marker.green().to_string(),
        _ => marker.magenta().to_string(),
    }
}

/// The lower edge with the labels of the horizontal axis, and the titles of both axes.
fn axis(x: &CurveAxis, y: &CurveAxis) -> String {
    let mut edge = vec!['─'; COLUMNS];
    let mut labels = vec![' '; COLUMNS + MARGIN];
    let mut free_from = 0;
    for (place, label) in x.labels() {
        let across = cell(place);
        edge[across] = '┬';
        let length = label.chars().count();
        let from = across.saturating_sub(length / 2);
        if from >= free_from && from + length <= labels.len() {
            for (offset, letter) in label.chars().enumerate() {
                labels[from + offset] = letter;
            }
            free_from = from + length + 1;
        }
    }
    let (edge, labels): (String, String) = (edge.iter().collect(), labels.iter().collect());
    let labels = labels.trim_end();
    let title = format!("{} by {}", y.title(), x.title());
    format!(
        "{:MARGIN$} └{edge}\n{:MARGIN$}  {labels}\n{:MARGIN$}  {title}\n",
        "", "", ""
    )
}

#[cfg(test)]
mod tests {
    use fslab_disk::bench::{Axis, AxisUnit, CurvePoint, Line};

    use super::*;

    fn curve() -> Curve {
        let points = |ys: [f64; 3]| {
            let positions = [1.0, 4.0, 16.0].into_iter().zip(ys);
            positions.map(|(x, y)| CurvePoint { x, y }).collect()
        };
        Curve {
            name: "queue-depth",
            title: "Operations",
            about: "Made up.".into(),
            x: Axis {
                title: "depth",
                unit: AxisUnit::Count,
                logarithmic: true,
            },
            y: Axis {
                title: "operations",
                unit: AxisUnit::OperationsPerSecond,
                logarithmic: false,
            },
            lines: vec![
                Line {
                    name: "read",
                    points: points([100.0, 200.0, 300.0]),
                },
                Line {
                    name: "write",
                    points: points([50.0, 50.0, 50.0]),
                },
            ],
        }
    }

    #[test]
    fn every_point_of_every_line_is_marked() {
        let text = plot(&curve(), false);
        assert_eq!(text.matches('●').count(), 3 + 1, "{text}");
        assert_eq!(text.matches('○').count(), 3 + 1, "{text}");
        let rows: Vec<_> = text.lines().collect();
        let highest = rows.iter().position(|row| row.ends_with('●'));
        let lowest = rows.iter().rposition(|row| row.contains("●·"));
        assert!(highest < lowest, "{text}");
    }

    #[test]
    fn the_plot_has_colours_only_if_enabled() {
        assert!(!plot(&curve(), false).contains('\u{1b}'));
        assert!(plot(&curve(), true).contains('\u{1b}'));
    }

    #[test]
    fn no_row_is_wider_than_a_terminal() {
        for row in plot(&curve(), false).lines() {
            assert!(row.chars().count() <= 100, "{row}");
            assert_eq!(row, row.trim_end());
        }
    }
}
