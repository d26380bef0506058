//! A curve on the terminal: a grid of characters, with a marker and a colour for each line.

use fslab_disk::bench::Curve;
use owo_colors::OwoColorize;

use super::disk_axis::Scale;

const COLUMNS: usize = 72;
const ROWS: usize = 15;
/// Columns of the labels at the left.
const MARGIN: usize = 12;
const MARKERS: [char; 6] = ['●', '○', '▲', '△', '■', '□'];
/// Connects two points.
const CONNECTOR: char = '·';

/// The curve with its title, legend and axes.
pub(super) fn plot(curve: &Curve, coloured: bool) -> String {
    let (x, y) = (Scale::of_x(curve), Scale::of_y(curve));
    let grid = draw_grid(curve, x, y);
    let mut text = format!("{}\n", curve.title);
    let legend: Vec<_> = curve
        .lines
        .iter()
        .enumerate()
        .map(|(index, line)| format!("{} {}", styled(marker(index), index, coloured), line.name))
        .collect();
    text.push_str(&format!("{:MARGIN$}   {}\n", "", legend.join("   ")));
    let mut labels = vec![String::new(); ROWS];
    for (value, label) in y.ticks(5) {
        labels[row(y.at(value))] = label;
    }
    for (label, cells) in labels.iter().zip(&grid) {
        let edge = if label.is_empty() { '│' } else { '┤' };
        text.push_str(&format!("{label:>MARGIN$} {edge}"));
        text.push_str(line(cells, coloured).trim_end());
        text.push('\n');
    }
    text.push_str(&axis(curve, x));
    text
}

fn row(share: f64) -> usize {
    ROWS - 1 - (share * (ROWS - 1) as f64).round() as usize
}

fn column(share: f64) -> usize {
    (share * (COLUMNS - 1) as f64).round() as usize
}

fn marker(line: usize) -> char {
    MARKERS[line % MARKERS.len()]
}

/// A character and the index of its line.
type Cell = Option<(char, usize)>;

fn draw_grid(curve: &Curve, x: Scale, y: Scale) -> Vec<Vec<Cell>> {
    let mut grid = vec![vec![None; COLUMNS]; ROWS];
    for (index, line) in curve.lines.iter().enumerate() {
        let positions: Vec<_> = line
            .points
            .iter()
            .map(|point| (x.at(point.x), y.at(point.y)))
            .collect();
        for pair in positions.windows(2) {
            connect(&mut grid, index, pair[0], pair[1]);
        }
    }
    // Points after connectors, and those of the first line last, so that it hides the others.
    for (index, line) in curve.lines.iter().enumerate().rev() {
        for point in &line.points {
            let (across, up) = (column(x.at(point.x)), row(y.at(point.y)));
            grid[up][across] = Some((marker(index), index));
        }
    }
    grid
}

/// Connects two points, with one character per column.
fn connect(grid: &mut [Vec<Cell>], line: usize, from: (f64, f64), to: (f64, f64)) {
    let (first, last) = (column(from.0), column(to.0));
    let cells = (first + 1..last).map(|across| {
        let share = (across - first) as f64 / (last - first) as f64;
        (across, row(from.1 + share * (to.1 - from.1)))
    });
    for (across, up) in cells {
        grid[up][across].get_or_insert((CONNECTOR, line));
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

/// The x axis with ticks, labels and the title of both axes.
fn axis(curve: &Curve, x: Scale) -> String {
    let mut edge = vec!['─'; COLUMNS];
    let mut labels = vec![' '; COLUMNS + MARGIN];
    let mut free_from = 0;
    for (value, label) in x.ticks(7) {
        let across = column(x.at(value));
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
    let title = format!("{} by {}", curve.y.title, curve.x.title);
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
