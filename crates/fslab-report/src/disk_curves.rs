//! The curves of a simulated disk's model: one drawing of all, and their axes for the terminal.

use fslab_disk::bench::{self, Curve};
use fslab_model::Unit;

use crate::Table;
use crate::chart::{Axis, Drawing, Frame, Label, Line, NARROW, Plot, Quantity, Spot};
use crate::chart::{TickUnit, distinct, sheet, ticks_across};

/// Curves beside each other, and the gaps between them.
const COLUMNS: usize = 2;
const GAP: (f64, f64) = (28.0, 20.0);
/// Most labels of a horizontal axis on the terminal.
const LABELS_MAX: f64 = 7.0;

/// The curves and the table below them as a self-contained SVG file, in light and dark colours.
pub fn disk_curves(title: &str, curves: &[Curve], table: &Table, notes: &[String]) -> String {
    let panels: Vec<Drawing> = curves.iter().filter_map(panel).collect();
    let parts = [
        Drawing::in_rows(&panels, COLUMNS, GAP),
        sheet(table).map(|sheet| sheet.titled(&table.caption)),
    ];
    let parts: Vec<Drawing> = parts.into_iter().flatten().collect();
    let most = curves.iter().max_by_key(|curve| curve.lines.len());
    let frame = Frame {
        title,
        labels: &most.map(labels).unwrap_or_default(),
        needs_legend: false,
        key: &[],
        notes,
    };
    let all = Drawing::in_rows(&parts, 1, GAP);
    all.map_or_else(String::new, |drawing| drawing.alone(&frame))
}

fn panel(curve: &Curve) -> Option<Drawing> {
    let labels = labels(curve);
    let lines = labels.iter().zip(&curve.lines).map(|(label, line)| {
        let spot = |point: &bench::CurvePoint| Spot {
            x: point.x,
            y: Some([point.y; 3]),
        };
        Line {
            label,
            spots: line.points.iter().map(spot).collect(),
        }
    });
    let plot = Plot {
        width: NARROW,
        x: quantity(&curve.x),
        y: quantity(&curve.y),
        lines: lines.collect(),
        marks: Vec::new(),
    };
    let drawing = plot.draw()?.under_legend(&labels);
    Some(drawing.titled(curve.title))
}

fn labels(curve: &Curve) -> Vec<Label> {
    let lines = curve.lines.iter().enumerate();
    let label = |(look, line): (usize, &bench::Line)| Label {
        name: line.name.to_owned(),
        look,
    };
    lines.map(label).collect()
}

fn quantity(axis: &bench::Axis) -> Quantity {
    let unit = match axis.unit {
        bench::AxisUnit::Bytes => TickUnit::Binary,
        bench::AxisUnit::Count => TickUnit::Common(Unit::Count),
        bench::AxisUnit::BytesPerSecond => TickUnit::Common(Unit::BytesPerSecond),
        bench::AxisUnit::OperationsPerSecond => TickUnit::Common(Unit::OperationsPerSecond),
        // These extend over many units.
        bench::AxisUnit::Place if axis.logarithmic => TickUnit::Each(Unit::Bytes),
        bench::AxisUnit::Nanoseconds if axis.logarithmic => TickUnit::Each(Unit::Nanoseconds),
        bench::AxisUnit::Place => TickUnit::Common(Unit::Bytes),
        bench::AxisUnit::Nanoseconds => TickUnit::Common(Unit::Nanoseconds),
    };
    Quantity::fixed(format!("{{}} · {}", axis.title), unit, axis.logarithmic)
}

/// An axis of a curve on the terminal.
#[derive(Clone, Debug)]
pub struct CurveAxis {
    axis: Axis,
    ticks: Vec<f64>,
}

impl CurveAxis {
    /// The place of a figure, between the two ends that the axis was made for.
    pub fn at(&self, value: f64) -> f64 {
        self.axis.at(value)
    }

    /// The places of the ticks, and their labels.
    pub fn labels(&self) -> Vec<(f64, String)> {
        let ticks = self.ticks.iter();
        ticks.map(|tick| self.axis.label(*tick)).collect()
    }

    /// The title, with the unit.
    pub fn title(&self) -> String {
        self.axis.title()
    }
}

/// The horizontal axis of a curve from 0 to the last of `columns`, and the vertical one from the
/// last of `rows` to 0. `None` without points.
pub fn curve_axes(curve: &Curve, columns: usize, rows: usize) -> Option<(CurveAxis, CurveAxis)> {
    let points = || curve.lines.iter().flat_map(|line| &line.points);
    let xs = distinct(points().map(|point| point.x));
    let ys: Vec<f64> = points().map(|point| point.y).collect();
    let last = |cells: usize| cells.saturating_sub(1) as f64;
    let x = quantity(&curve.x).across(&xs, (0.0, last(columns)))?;
    let y = quantity(&curve.y).upwards(&ys, (last(rows), 0.0))?;
    Some((
        CurveAxis {
            ticks: ticks_across(&x, &xs, LABELS_MAX),
            axis: x,
        },
        CurveAxis {
            ticks: y.scale.ticks(y.ticks),
            axis: y,
        },
    ))
}

#[cfg(test)]
mod tests {
    use fslab_disk::bench::{AxisUnit, CurvePoint};

    use super::*;

    fn curve(unit: AxisUnit, logarithmic: bool, points: &[(f64, f64)]) -> Curve {
        let axis = |unit| bench::Axis {
            title: "t",
            unit,
            logarithmic,
        };
        let points = points.iter().map(|(x, y)| CurvePoint { x: *x, y: *y });
        Curve {
            name: "c",
            title: "C",
            about: String::new(),
            x: axis(unit),
            y: axis(AxisUnit::OperationsPerSecond),
            lines: vec![bench::Line {
                name: "read <4k>",
                points: points.collect(),
            }],
        }
    }

    fn labels_of(unit: AxisUnit, logarithmic: bool, points: &[(f64, f64)]) -> Vec<String> {
        let curve = curve(unit, logarithmic, points);
        let (x, _) = curve_axes(&curve, 72, 15).expect("points");
        x.labels().into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn ticks_are_those_of_reports_in_the_unit_of_their_axis() {
        let sizes: Vec<(f64, f64)> = (9..24).map(|power| (2_f64.powi(power), 1.0)).collect();
        assert_eq!(
            labels_of(AxisUnit::Bytes, true, &sizes),
            ["512 B", "4 KiB", "32 KiB", "256 KiB", "2 MiB"]
        );
        let ends = |low, high| [(low, 1.0), (high, 2.0)];
        assert_eq!(
            labels_of(AxisUnit::Place, false, &ends(0.0, 3e10)),
            ["0", "5", "10", "15", "20", "25", "30"]
        );
        assert_eq!(
            labels_of(AxisUnit::Nanoseconds, true, &ends(1e5, 1e9)),
            ["100 µs", "1 ms", "10 ms", "100 ms", "1 s"]
        );
        assert_eq!(
            labels_of(AxisUnit::Count, true, &ends(1.0, 32.0)),
            ["1", "32"]
        );
    }

    #[test]
    fn every_figure_has_a_place_even_if_all_are_equal() {
        for logarithmic in [false, true] {
            for y in [7.0, 0.0] {
                let points = [(3.0, y), (3.0, y), (5.0, 9.0)];
                let curve = curve(AxisUnit::Count, logarithmic, &points);
                let (x, y) = curve_axes(&curve, 72, 15).expect("points");
                for value in [0.0, 3.0, 7.0, 1e300] {
                    assert!((0.0..=71.0).contains(&x.at(value)), "{value}");
                    assert!((0.0..=14.0).contains(&y.at(value)), "{value}");
                }
                assert!(x.labels().len() < 25 && y.labels().len() < 25);
            }
        }
        assert!(curve_axes(&curve(AxisUnit::Count, true, &[]), 72, 15).is_none());
    }

    #[test]
    fn the_drawing_names_every_line_and_has_the_table_below() {
        let curves = [curve(AxisUnit::Count, true, &[(1.0, 80.0), (8.0, 90.0)])];
        let table = Table {
            caption: "Sheet".into(),
            columns: vec![crate::Column::left("Figure")],
            rows: vec![vec![crate::TableCell::new("8.9 ms")]],
            notes: Vec::new(),
        };
        let svg = disk_curves("A & B", &curves, &table, &["a note".into()]);
        for part in [
            "A &amp; B",
            "read &lt;4k&gt;",
            ">Sheet<",
            ">8.9 ms<",
            ">a note<",
        ] {
            assert!(svg.contains(part), "{part:?} is in {svg}");
        }
        assert!(svg.contains("op/s · t · log axis"), "{svg}");
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    }
}
