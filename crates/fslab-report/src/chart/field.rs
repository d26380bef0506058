//! The part of a chart that is drawn along axes.
//!
//! Marks are given in the figures of the axes. On the page, each carries its figures, and each axis
//! its rules, so that the script can draw them again for fewer subjects (`templates/charts.js`):
//!
//! ```text
//!     <g data-x="the axis as JSON">
//!       <g class="of s1"> <path class="curve" d="M40 10l20 5" data-v="1 20 2 30"/> </g>
//! ```

use std::fmt::Write;

use fslab_stats::Interval;
use serde_json::{Map, Value, json};

use super::axis::{Axis, rounded};
use super::numbers::at;
use super::outline::{Outline, Point, Zoom, simplified};
use super::svg::{Anchor, Svg};
use crate::palette;
use crate::xml::escape;

/// Significant digits of a figure: far less than a pixel.
const DIGITS: usize = 4;
/// Distance of a figure's text from the end of its bar.
pub(super) const BESIDE: f64 = 6.0;

/// What stands at a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// The end of an interval, with an arrow if it is beyond the axis.
    End,
    /// An arrow upwards if it is beyond the axis.
    Up,
}

impl Shape {
    const ALL: [Self; 2] = [Self::End, Self::Up];

    fn name(self) -> &'static str {
        match self {
            Self::End => "end",
            Self::Up => "up",
        }
    }

    /// Paths of relative steps: within the axis, and beyond it.
    fn paths(self) -> (&'static str, &'static str) {
        match self {
            Self::End => ("m0-4v8", "m-1-4l5 4-5 4"),
            Self::Up => ("", "m-4 1l4-5 4 5"),
        }
    }
}

/// The shapes of marks as JSON, for the script: those of the subjects, in the order of their looks,
/// and of each [`Shape`] within and beyond an axis.
pub(crate) fn shapes() -> String {
    let each = Shape::ALL.map(|shape| (shape.name().to_owned(), json!(shape.paths())));
    let mut shapes: Map<String, Value> = each.into_iter().collect();
    shapes.insert("subject".to_owned(), json!(palette::SHAPES));
    Value::Object(shapes).to_string()
}

/// A drawing along axes. Points are figures of an axis, or pixels where there is none.
pub(super) struct Field<'a> {
    pub(super) svg: &'a mut Svg,
    x: Option<Axis>,
    y: Option<Axis>,
    /// True if the script draws it again.
    is_redrawn: bool,
}

impl<'a> Field<'a> {
    /// Begins a drawing along axes that the script fits to the subjects shown.
    pub(super) fn open(svg: &'a mut Svg, x: Option<Axis>, y: Option<Axis>) -> Self {
        let mut tag = "<g".to_owned();
        for (name, axis) in [("x", &x), ("y", &y)] {
            if let Some(axis) = axis {
                // JSON has many quotes: single ones around it need least escaping.
                let embedded = axis.embedded().replace('&', "&amp;");
                let embedded = embedded.replace('<', "&lt;").replace('\'', "&#39;");
                write!(tag, " data-{name}='{embedded}'").expect("writes to memory");
            }
        }
        svg.push(format_args!("{tag}>"));
        let is_redrawn = true;
        Self {
            svg,
            x,
            y,
            is_redrawn,
        }
    }

    /// Begins a drawing along axes that stay as they are.
    pub(super) fn fixed(svg: &'a mut Svg, x: Option<Axis>, y: Option<Axis>) -> Self {
        svg.push(format_args!("<g>"));
        let is_redrawn = false;
        Self {
            svg,
            x,
            y,
            is_redrawn,
        }
    }

    /// Begins what has the colour of that number; in a drawing for the script, of that subject.
    pub(super) fn begin(&mut self, look: usize) {
        match self.is_redrawn {
            true => self.svg.open(look),
            false => self.svg.open_coloured(look),
        }
    }

    /// Ends it.
    pub(super) fn close(self) {
        self.svg.close();
    }

    /// The pixels of a point.
    fn place(&self, (x, y): Point) -> Point {
        let along = |axis: &Option<Axis>, value| axis.as_ref().map_or(value, |axis| axis.at(value));
        (along(&self.x, x), along(&self.y, y))
    }

    /// The pixel of a figure on the horizontal axis.
    pub(super) fn across_at(&self, value: f64) -> f64 {
        self.place((value, 0.0)).0
    }

    /// True if a point is beyond the end of an axis.
    pub(super) fn is_beyond(&self, (x, y): Point) -> bool {
        let over = |axis: &Option<Axis>, value| {
            axis.as_ref()
                .is_some_and(|axis| axis.scale.is_beyond(value))
        };
        over(&self.x, x) || over(&self.y, y)
    }

    /// The horizontal axis: lines from `top` to `bottom`, labels, and a title that ends at `end`.
    pub(super) fn across(&mut self, (top, bottom): (f64, f64), end: f64) {
        let Some(axis) = &self.x else { return };
        let labels = axis.labels();
        let lines = labels.iter().map(|(at, _)| ((*at, top), (*at, bottom)));
        self.svg
            .grid("x", (top, bottom), &lines.collect::<Vec<_>>());
        self.svg.foot();
        for (at, label) in labels {
            let place = (at, bottom + 14.0);
            self.svg.text("tick x", Anchor::Middle, place, &label);
        }
        let place = (end, bottom + 31.0);
        self.svg.text("axis x", Anchor::End, place, &axis.title());
        self.svg.close();
    }

    /// The vertical axis: lines from `left` to `right`, labels, and a title above them.
    pub(super) fn upwards(&mut self, (left, right): (f64, f64)) {
        let Some(axis) = &self.y else { return };
        let labels = axis.labels();
        let lines = labels.iter().map(|(at, _)| ((left, *at), (right, *at)));
        self.svg
            .grid("y", (left, right), &lines.collect::<Vec<_>>());
        for (at, label) in labels {
            let place = (left - 5.0, at + 3.5);
            self.svg.text("tick y", Anchor::End, place, &label);
        }
        let title = axis.title();
        self.svg.text("axis y", Anchor::Start, (2.0, 12.0), &title);
    }

    /// Lines without imperceptible points; `zoom` is how far the script may enlarge them.
    pub(super) fn curves(&mut self, class: &str, lines: &[Vec<Point>], zoom: Zoom) {
        let (mut outline, mut kept) = (Outline::default(), Vec::new());
        for line in lines {
            let pixels: Vec<Point> = line.iter().map(|point| self.place(*point)).collect();
            let indices = simplified(&pixels, zoom);
            let of = |points: &[Point]| -> Vec<Point> {
                indices.iter().map(|index| points[*index]).collect()
            };
            outline.line(&of(&pixels));
            kept.push(of(line));
        }
        self.path(class, &kept, "", outline);
    }

    /// Straight lines.
    pub(super) fn lines(&mut self, class: &str, lines: &[(Point, Point)]) {
        let mut outline = Outline::default();
        for (from, to) in lines {
            outline.segment(self.place(*from), self.place(*to));
        }
        let lines: Vec<Vec<Point>> = lines.iter().map(|(from, to)| vec![*from, *to]).collect();
        self.path(class, &lines, "", outline);
    }

    /// A rectangle between two opposite corners, at least `least` pixels wide.
    pub(super) fn rectangle(&mut self, class: &str, (from, to): (Point, Point), least: f64) {
        let mut outline = Outline::default();
        let (start, end) = (self.place(from), self.place(to));
        outline.rectangle(start, (end.0.max(start.0 + least), end.1));
        let form = format!(" data-least=\"{least}\"");
        self.path(class, &[vec![from, to]], &form, outline);
    }

    /// The subject's mark at each of the points.
    pub(super) fn marks(&mut self, class: &str, subject: usize, points: &[Point]) {
        let mut outline = Outline::default();
        for point in points {
            outline.shape(self.place(*point), palette::shape(subject));
        }
        self.path(class, &[points.to_vec()], "", outline);
    }

    /// The subject's mark at the end of each of the lines before it, whose figures the script
    /// takes.
    pub(super) fn end_marks(&mut self, subject: usize, ends: &[Point]) {
        let places: Vec<Point> = ends.iter().map(|end| self.place(*end)).collect();
        self.svg.marks("dot small", subject, &places);
    }

    /// A shape at each of the points.
    pub(super) fn shapes(&mut self, class: &str, shape: Shape, points: &[Point]) {
        let mut outline = Outline::default();
        let (inside, beyond) = shape.paths();
        for point in points {
            let is_beyond = self.is_beyond(*point);
            outline.shape(self.place(*point), if is_beyond { beyond } else { inside });
        }
        let form = format!(" data-shape=\"{}\"", shape.name());
        self.path(class, &[points.to_vec()], &form, outline);
    }

    /// A horizontal interval with its ends.
    pub(super) fn interval(&mut self, interval: Interval, y: f64) {
        let ends = [(interval.low, y), (interval.high, y)];
        self.lines("interval", &[(ends[0], ends[1])]);
        self.shapes("cap", Shape::End, &ends);
    }

    /// A text beside the place of a figure on the horizontal axis.
    pub(super) fn beside(&mut self, value: f64, y: f64, text: &str) {
        let left = at(self.across_at(value) + BESIDE);
        let values = match self.is_redrawn {
            true => {
                let per = self.x.as_ref().map_or(1.0, Axis::per);
                format!(" data-v=\"{}\"", digits(value / per))
            }
            false => String::new(),
        };
        self.svg.push(format_args!(
            "<text class=\"value\"{values} x=\"{left}\" y=\"{}\">{}</text>",
            at(y),
            escape(text)
        ));
    }

    fn path(&mut self, class: &str, lines: &[Vec<Point>], form: &str, outline: Outline) {
        let data = outline.finish();
        if data.is_empty() {
            return;
        }
        let mut values = String::new();
        if self.is_redrawn {
            let lines: Vec<String> = lines.iter().map(|line| self.figures(line)).collect();
            values = format!(" data-v=\"{}\"{form}", lines.join(";"));
        }
        self.svg.push(format_args!(
            "<path class=\"{class}\" d=\"{data}\"{values}/>"
        ));
    }

    /// The points of a line: figures of an axis, in its multiples, or pixels.
    fn figures(&self, line: &[Point]) -> String {
        let number = |axis: &Option<Axis>, value| match axis {
            Some(axis) => digits(value / axis.per()),
            None => at(value),
        };
        let points = line.iter();
        let points =
            points.map(|(x, y)| format!("{} {}", number(&self.x, *x), number(&self.y, *y)));
        points.collect::<Vec<_>>().join(" ")
    }
}

/// A figure in as few letters as its digits need.
fn digits(value: f64) -> String {
    let value = rounded(value, DIGITS);
    let (plain, power) = (value.to_string(), format!("{value:e}"));
    if power.len() < plain.len() {
        power
    } else {
        plain
    }
}

#[cfg(test)]
mod tests {
    use fslab_model::Unit;

    use super::super::axis::TickUnit;
    use super::super::scale::Scale;
    use super::*;

    fn axis() -> Axis {
        Axis {
            scale: Scale::from_zero(1e6, 0.0, 100.0),
            high: 1e6,
            ticks: 4,
            linear_factor_max: f64::INFINITY,
            room: (1.0, 1.0),
            unit: TickUnit::Common(Unit::Bytes),
            title: "{}".to_owned(),
        }
    }

    fn drawn(draw: impl Fn(&mut Field), is_redrawn: bool) -> String {
        let mut svg = Svg::new(50.0);
        let mut field = match is_redrawn {
            true => Field::open(&mut svg, Some(axis()), None),
            false => Field::fixed(&mut svg, Some(axis()), None),
        };
        draw(&mut field);
        field.close();
        let body = svg.into_drawing("").body;
        let begin = body.find('>').expect("a group") + 1;
        body[begin..body.len() - "</g>".len()].to_owned()
    }

    #[test]
    fn a_mark_carries_the_figures_that_it_shows() {
        let line = |field: &mut Field| {
            field.lines("mean", &[((250_000.0, 3.0), (123_456.7, 9.04))]);
        };
        assert_eq!(
            drawn(line, true),
            "<path class=\"mean\" d=\"M25 3l-12.7 6\" data-v=\"250 3 123.5 9\"/>"
        );
        assert_eq!(
            drawn(line, false),
            "<path class=\"mean\" d=\"M25 3l-12.7 6\"/>"
        );
    }

    #[test]
    fn an_interval_that_exceeds_the_axis_ends_with_an_arrow_and_keeps_its_end() {
        let interval = Interval {
            low: 5e5,
            high: 3e6,
        };
        assert_eq!(
            drawn(|field| field.interval(interval, 7.0), true),
            "<path class=\"interval\" d=\"M50 7H100\" data-v=\"500 7 3e3 7\"/>\
             <path class=\"cap\" d=\"M50 7m0-4v8M100 7m-1-4l5 4-5 4\" data-v=\"500 7 3e3 7\" \
             data-shape=\"end\"/>"
        );
    }

    #[test]
    fn the_figures_of_a_curve_are_those_of_the_points_that_are_drawn() {
        let straight = vec![(0.0, 1.0), (4e5, 1.0), (8e5, 1.0), (1e6, 9.0)];
        assert_eq!(
            drawn(
                |field| field.curves("curve", std::slice::from_ref(&straight), Zoom(1.0, 1.0)),
                true
            ),
            "<path class=\"curve\" d=\"M0 1l80 0 20 8\" data-v=\"0 1 800 1 1e3 9\"/>"
        );
    }
}
