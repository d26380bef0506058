//! One figure against another on logarithmic axes, a point for each subject, with the line of a
//! single factor.
//!
//! A decade is as long on both axes, so that the line has 45 degrees and the distance from it is
//! the same factor everywhere. The text in the corner has its own strip, where no point is.

use fslab_model::MetricDefinition;

use super::drawing::Drawing;
use super::numbers::text_width;
use super::placing::{Area, Placing};
use super::scale::{AxisUnit, Scale};
use super::svg::{Anchor, Svg};

/// Width of a panel: three fill a wide figure.
const WIDTH: f64 = 246.0;
/// Panels beside each other, and the gaps between them.
const COLUMNS: usize = 3;
const GAP: (f64, f64) = (11.0, 16.0);
const LEFT: f64 = 48.0;
/// Length of both axes.
const SIDE: f64 = 188.0;
/// The field begins here, with the strip of the corner's text.
const TOP: f64 = 40.0;
const STRIP: f64 = 35.0;
const BELOW: f64 = 36.0;
/// Room around the points.
const ROOM: f64 = 14.0;
/// Smallest ratio of the ends of an axis.
const RATIO_LEAST: f64 = 3.0;

/// One subject.
pub(crate) struct ScatterPoint<'a> {
    pub(crate) name: &'a str,
    /// The number of its colour and shape.
    pub(crate) look: usize,
    /// Both above 0.
    pub(crate) x: f64,
    pub(crate) y: f64,
    /// True if its name stands beside it.
    pub(crate) is_named: bool,
}

/// A panel.
pub(crate) struct Scatter<'a> {
    pub(crate) title: String,
    /// The figure on both axes.
    pub(crate) metric: &'static MetricDefinition,
    /// The unit of a metric that has none: percent.
    pub(crate) unit: &'static str,
    /// Names of the axes.
    pub(crate) axes: (&'static str, &'static str),
    /// The line's `y / x`.
    pub(crate) factor: f64,
    /// The factor by which points in the band around the line may be off it; `None` for no band.
    pub(crate) band: Option<f64>,
    /// Two lines for the corner.
    pub(crate) corner: [String; 2],
    pub(crate) points: Vec<ScatterPoint<'a>>,
}

impl Scatter<'_> {
    /// Panels in rows; `None` if there are none.
    pub(crate) fn sheet(panels: &[Self]) -> Option<Drawing> {
        let drawings: Vec<Drawing> = panels.iter().filter_map(Self::draw).collect();
        Drawing::in_rows(&drawings, COLUMNS, GAP)
    }

    /// The panel; `None` without points.
    fn draw(&self) -> Option<Drawing> {
        let (x, y) = self.scales()?;
        let bottom = TOP + STRIP + SIDE;
        let mut svg = Svg::with_width(WIDTH, bottom + BELOW);
        svg.text("head", Anchor::Start, (0.0, 18.0), &self.title);
        self.axis_lines(&mut svg, (x, y));
        svg.rectangle("hole", (LEFT, TOP), (LEFT + SIDE, bottom));
        if let Some(band) = self.band {
            svg.surface("band", &band_in((x, y), (self.factor, band)));
        }
        let ends = line_in((x, y), self.factor);
        svg.line("border", ends[0], ends[1]);
        for (line, text) in self.corner.iter().enumerate() {
            let place = (LEFT + 6.0, TOP + 14.0 + 14.0 * line as f64);
            svg.text("tick", Anchor::Start, place, text);
        }
        self.subjects(&mut svg, (x, y), ends);
        Some(svg.into_drawing(&self.description()))
    }

    fn scales(&self) -> Option<(Scale, Scale)> {
        let ends = |of: fn(&ScatterPoint<'_>) -> f64| {
            let values = || self.points.iter().map(of);
            Some((values().reduce(f64::min)?, values().reduce(f64::max)?))
        };
        let (across, upwards) = (ends(|point| point.x)?, ends(|point| point.y)?);
        let span = |(low, high): (f64, f64)| high.ln() - low.ln();
        let longest = span(across).max(span(upwards)).max(RATIO_LEAST.ln());
        let length = longest * SIDE / (SIDE - 2.0 * ROOM);
        let range = |(low, high): (f64, f64)| {
            let middle = f64::midpoint(low.ln(), high.ln());
            let half = length / 2.0;
            ((middle - half).exp(), (middle + half).exp())
        };
        let (bottom, (x, y)) = (TOP + STRIP + SIDE, (range(across), range(upwards)));
        Some((
            Scale::logarithmic(x.0, x.1, LEFT, LEFT + SIDE),
            Scale::logarithmic(y.0, y.1, bottom, bottom - SIDE),
        ))
    }

    fn axis_lines(&self, svg: &mut Svg, (x, y): (Scale, Scale)) {
        let bottom = TOP + STRIP + SIDE;
        let (across, upwards) = (x.ticks(4), y.ticks(4));
        let lines = across.iter().map(|tick| x.at(*tick));
        let lines = lines.map(|x| ((x, bottom), (x, bottom - SIDE)));
        let levels = upwards.iter().map(|tick| y.at(*tick));
        let levels = levels.map(|y| ((LEFT, y), (LEFT + SIDE, y)));
        svg.lines("grid", &lines.chain(levels).collect::<Vec<_>>());
        let all = || across.iter().chain(&upwards).copied();
        let (low, high) = (
            all().fold(f64::INFINITY, f64::min),
            all().fold(0.0, f64::max),
        );
        let unit = AxisUnit::of(self.metric.unit, (low * high).sqrt());
        // Ticks of very different sizes have each its own unit.
        let common = unit.covers(low, high);
        let label = |tick: f64| match common {
            true => unit.label(tick),
            false => AxisUnit::of(self.metric.unit, tick).with_value(tick),
        };
        let labels: Vec<String> = across.iter().map(|tick| label(*tick)).collect();
        let widest = labels
            .iter()
            .map(|text| text_width(text))
            .fold(0.0, f64::max);
        let apart = match across.as_slice() {
            [first, second, ..] => x.at(*second) - x.at(*first),
            _ => SIDE,
        };
        let step = (widest / apart).ceil().max(1.0) as usize;
        for (tick, text) in across.iter().zip(&labels).step_by(step) {
            let place = (x.at(*tick), bottom + 14.0);
            svg.text("tick", Anchor::Middle, place, text);
        }
        for tick in &upwards {
            let place = (LEFT - 5.0, y.at(*tick) + 4.0);
            svg.text("tick", Anchor::End, place, &label(*tick));
        }
        let name = match (common, self.unit) {
            (false, _) => String::new(),
            (true, "") if unit.name.is_empty() => String::new(),
            (true, "") => format!(", {}", unit.name),
            (true, unit) => format!(", {unit}"),
        };
        let titles = [self.axes.0, self.axes.1].map(|axis| format!("{axis}{name}"));
        let right = (LEFT + SIDE, bottom + 30.0);
        svg.text("axis", Anchor::End, right, &titles[0]);
        svg.text("axis", Anchor::Start, (LEFT, TOP - 6.0), &titles[1]);
    }

    fn subjects(&self, svg: &mut Svg, (x, y): (Scale, Scale), line: [(f64, f64); 2]) {
        let place = |point: &ScatterPoint<'_>| (x.at(point.x), y.at(point.y));
        let mut names = Placing {
            area: Area {
                from: (LEFT + 1.0, TOP + STRIP),
                to: (LEFT + SIDE - 1.0, TOP + STRIP + SIDE - 1.0),
            },
            marks: self.points.iter().map(place).collect(),
            line,
            taken: Vec::new(),
        };
        // What is named is on top.
        let (named, others): (Vec<_>, Vec<_>) = self.points.iter().partition(|p| p.is_named);
        for point in others.into_iter().chain(named) {
            let at = place(point);
            svg.open(point.look);
            if point.is_named {
                let found = names.place(at, point.name);
                if let Some(leader) = found.leader {
                    svg.line("spread", at, leader);
                }
                svg.mark("dot", point.look, at);
                svg.text("label", found.anchor, found.text, point.name);
            } else {
                svg.mark("dot", point.look, at);
            }
            svg.close();
        }
    }

    fn description(&self) -> String {
        let named = self.points.iter().filter(|point| point.is_named);
        let named: Vec<&str> = named.map(|point| point.name).collect();
        let outliers = match named.as_slice() {
            [] => String::new(),
            names => format!(" Outliers: {}.", names.join(", ")),
        };
        format!(
            "{}: {} points. {}.{outliers}",
            self.title,
            self.points.len(),
            self.corner.join(", ")
        )
    }
}

/// The ends of the line of a factor in the square of the axes.
fn line_in((x, y): (Scale, Scale), factor: f64) -> [(f64, f64); 2] {
    let (across, upwards) = (x.ends(), y.ends());
    let low = across.0.max(upwards.0 / factor);
    let high = across.1.min(upwards.1 / factor);
    [low, high].map(|end| (x.at(end), y.at(end * factor)))
}

/// The corners of the band around the line of a factor, in the square of the axes.
fn band_in((x, y): (Scale, Scale), (factor, band): (f64, f64)) -> Vec<(f64, f64)> {
    let [above, below] = [factor * band, factor / band].map(|edge| line_in((x, y), edge));
    // Where the edges end at different sides of the square, its corner is between them.
    let corner = |end: usize, of: fn(Scale) -> f64| {
        let (a, b) = (above[end], below[end]);
        (a.0 != b.0 && a.1 != b.1).then(|| (of(x), of(y)))
    };
    let points = [
        Some(above[0]),
        Some(above[1]),
        corner(1, |scale| scale.pixels().1),
        Some(below[1]),
        Some(below[0]),
        corner(0, |scale| scale.pixels().0),
    ];
    points.into_iter().flatten().collect()
}
