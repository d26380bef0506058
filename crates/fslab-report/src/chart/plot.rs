//! Lines over an axis of sizes, counts or plain numbers: a figure over a dimension of a sweep, or
//! the values of a list.

use fslab_model::{Bytes, MetricDefinition, Unit};

use super::drawing::Drawing;
use super::outline::Zoom;
use super::scale::{AxisUnit, Rule, Scale, direction};
use super::svg::{Anchor, Svg};
use super::{Label, WIDTH};
use crate::wording;

const TOP: f64 = 26.0;
const LEFT: f64 = 48.0;
/// Below the field: ticks and the axis' title.
const BELOW: f64 = 42.0;
/// A larger ratio of figures makes their axis logarithmic.
const LINEAR_FACTOR_MAX: f64 = 10.0;
/// Length of the vertical axis relative to its figures: linear, and logarithmic.
const ROOM: (f64, f64) = (1.06, 1.25);
const TICKS: u32 = 5;
/// Smallest width of a tick's label.
const LABEL_ROOM: f64 = 48.0;
/// A plot of at least this width is a separate figure, and higher.
const WIDE: f64 = 600.0;

/// The quantity of an axis.
#[derive(Clone, Debug)]
pub(crate) enum Quantity {
    /// A metric.
    Metric(&'static MetricDefinition),
    /// Sizes in bytes, under this title.
    Bytes(String),
    /// Numbers without a unit, under this title.
    Plain(String),
}

/// One point of a line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spot {
    pub(crate) x: f64,
    /// The median, the smallest and the largest of the repeats; `None` breaks the line.
    pub(crate) y: Option<[f64; 3]>,
}

/// A line.
pub(crate) struct Line<'a> {
    pub(crate) label: &'a Label,
    pub(crate) spots: Vec<Spot>,
}

/// Lines to draw.
pub(crate) struct Plot<'a> {
    pub(crate) width: f64,
    pub(crate) x: Quantity,
    pub(crate) y: Quantity,
    pub(crate) lines: Vec<Line<'a>>,
    /// Marked places on the horizontal axis, such as the size of memory.
    pub(crate) marks: Vec<(f64, String)>,
}

impl Plot<'_> {
    /// The drawing; `None` without values.
    pub(crate) fn draw(&self) -> Option<Drawing> {
        // Spots without a value included, so that the axis covers the entire dimension.
        let spots = self.lines.iter().flat_map(|line| &line.spots);
        let xs: Vec<f64> = sorted(spots.map(|spot| spot.x));
        let values: Vec<f64> = self.spots().flat_map(|spot| spot.y).flatten().collect();
        let (first, last) = (*xs.first()?, *xs.last()?);
        let height = if self.width >= WIDE { 360.0 } else { 250.0 };
        let (right, bottom) = (self.width - 14.0, height - BELOW);
        let x = across(first, last, LEFT + 8.0, right - 6.0);
        let y = upwards(&values, bottom)?;
        let mut svg = Svg::with_width(self.width, height);
        let unit = match &self.y {
            Quantity::Metric(metric) => AxisUnit::base(metric),
            Quantity::Bytes(_) => "KiB",
            Quantity::Plain(_) => "",
        };
        let rule = Rule {
            scale: y,
            ticks: TICKS,
            linear_factor_max: LINEAR_FACTOR_MAX,
            room: ROOM,
            unit,
        };
        svg.along(None, Some(&rule));
        self.vertical_axis(&mut svg, y, &values, right);
        self.horizontal_axis(&mut svg, (x, &xs), (right, bottom));
        for line in &self.lines {
            draw_line(&mut svg, (x, y), line);
        }
        svg.close();
        Some(svg.into_drawing(&self.description()))
    }

    fn spots(&self) -> impl Iterator<Item = &Spot> {
        let spots = self.lines.iter().flat_map(|line| &line.spots);
        spots.filter(|spot| spot.y.is_some())
    }

    fn vertical_axis(&self, svg: &mut Svg, y: Scale, values: &[f64], right: f64) {
        let high = values.iter().copied().fold(0.0, f64::max);
        let note = if y.is_logarithmic() {
            " · log axis"
        } else {
            ""
        };
        let (labels, name): (Box<dyn Fn(f64) -> String>, String) = match &self.y {
            Quantity::Metric(metric) => {
                let unit = AxisUnit::of(metric, high);
                let name = format!("{} · {}", unit.name, direction(metric));
                let name = name.trim_start_matches(" · ").to_owned();
                (Box::new(move |tick| unit.label(tick)), name)
            }
            Quantity::Bytes(title) => (Box::new(bytes), title.clone()),
            Quantity::Plain(title) => (Box::new(plain), title.clone()),
        };
        let ticks = y.ticks(TICKS);
        let level = |tick: &f64| ((LEFT, y.at(*tick)), (right, y.at(*tick)));
        svg.lines("grid y", &ticks.iter().map(level).collect::<Vec<_>>());
        for tick in ticks {
            let at = (LEFT - 5.0, y.at(tick) + 3.5);
            svg.text("tick y", Anchor::End, at, &labels(tick));
        }
        svg.text(
            "axis y",
            Anchor::Start,
            (2.0, 12.0),
            &format!("{name}{note}"),
        );
    }

    fn horizontal_axis(
        &self,
        svg: &mut Svg,
        (x, values): (Scale, &[f64]),
        (right, bottom): (f64, f64),
    ) {
        let room = (right - LEFT) / LABEL_ROOM;
        // The sizes and counts of a sweep are the ticks, as many as fit.
        let few = values.len() <= 24 || matches!(self.x, Quantity::Bytes(_));
        let (ticks, step) = match few && x.is_logarithmic() || values.len() <= 8 {
            true => (values.to_vec(), (values.len() as f64 / room).ceil()),
            false => (x.ticks(6), 1.0),
        };
        for tick in ticks.iter().step_by((step as usize).max(1)) {
            let at = x.at(*tick);
            svg.line("grid", (at, TOP), (at, bottom));
            let label = match self.x {
                Quantity::Bytes(_) => bytes(*tick),
                Quantity::Metric(_) | Quantity::Plain(_) => plain(*tick),
            };
            svg.text("tick", Anchor::Middle, (at, bottom + 14.0), &label);
        }
        let (low, high) = (values.first().copied(), values.last().copied());
        for (place, name) in &self.marks {
            if low.is_some_and(|low| *place < low) || high.is_some_and(|high| *place > high) {
                continue;
            }
            let at = x.at(*place);
            svg.line("border", (at, TOP - 4.0), (at, bottom));
            svg.text("axis", Anchor::Middle, (at, TOP - 7.0), name);
        }
        let title = match &self.x {
            Quantity::Bytes(title) | Quantity::Plain(title) => title.clone(),
            Quantity::Metric(metric) => metric.title.to_owned(),
        };
        let note = if x.is_logarithmic() {
            " · log axis"
        } else {
            ""
        };
        let at = (right + 6.0, bottom + 31.0);
        svg.text("axis", Anchor::End, at, &format!("{title}{note}"));
    }

    fn description(&self) -> String {
        let described = |value: f64| match &self.y {
            Quantity::Metric(metric) => wording::figure(metric, value),
            Quantity::Bytes(_) => bytes(value),
            Quantity::Plain(_) => plain(value),
        };
        let at = |x: f64| match &self.x {
            Quantity::Bytes(_) => bytes(x),
            Quantity::Metric(_) | Quantity::Plain(_) => plain(x),
        };
        let line = |line: &Line| {
            let ends = || {
                line.spots
                    .iter()
                    .filter_map(|spot| Some((spot.x, spot.y?[0])))
            };
            match (ends().next(), ends().next_back()) {
                (Some((from, first)), Some((to, last))) => format!(
                    "{}: {} at {}, {} at {}.",
                    line.label.name,
                    described(first),
                    at(from),
                    described(last),
                    at(to)
                ),
                _ => format!("{}: no figure.", line.label.name),
            }
        };
        self.lines.iter().map(line).collect::<Vec<_>>().join(" ")
    }
}

/// Width of a plot beside others.
pub(crate) const NARROW: f64 = WIDTH;

fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    values
}

fn across(first: f64, last: f64, from: f64, to: f64) -> Scale {
    if first > 0.0 && last / first >= LINEAR_FACTOR_MAX.min(4.0) {
        Scale::logarithmic(first, last, from, to)
    } else {
        Scale::between(first, last, from, to)
    }
}

fn upwards(values: &[f64], bottom: f64) -> Option<Scale> {
    let low = values.iter().copied().reduce(f64::min)?;
    let high = values.iter().copied().reduce(f64::max)?;
    Some(if low > 0.0 && high / low > LINEAR_FACTOR_MAX {
        Scale::logarithmic(low / ROOM.1, high * ROOM.1, bottom, TOP)
    } else {
        Scale::from_zero(high * ROOM.0, bottom, TOP)
    })
}

fn bytes(value: f64) -> String {
    // Ticks are integral bytes, far below the exact range of a float.
    Bytes(value.round() as u64).to_string()
}

fn plain(value: f64) -> String {
    AxisUnit::of(&PLAIN, value).label(value)
}

/// A number without a unit.
const PLAIN: MetricDefinition = MetricDefinition {
    unit: Unit::Count,
    ..fslab_model::definitions::OPERATIONS
};

fn draw_line(svg: &mut Svg, (x, y): (Scale, Scale), line: &Line) {
    let figures = || line.spots.iter().filter_map(|spot| spot.y);
    let low = figures()
        .map(|[_, low, _]| low)
        .fold(f64::INFINITY, f64::min);
    let high = figures().map(|[_, _, high]| high).fold(0.0, f64::max);
    svg.open_large(line.label.look, Zoom(1.0, y.zoom(low, high)), None);
    let places = |stretch: &[Spot]| -> Vec<(f64, f64)> {
        let places = stretch.iter();
        places
            .filter_map(|spot| Some((x.at(spot.x), y.at(spot.y?[0]))))
            .collect()
    };
    let stretches = line.spots.split(|spot| spot.y.is_none()).map(places);
    let stretches: Vec<_> = stretches.filter(|points| points.len() > 1).collect();
    svg.curves("curve", &stretches);
    let spread = line.spots.iter().filter_map(|spot| {
        let ([_, low, high], at) = (spot.y?, x.at(spot.x));
        (high > low).then(|| ((at, y.at(low)), (at, y.at(high))))
    });
    svg.lines("cap", &spread.collect::<Vec<_>>());
    // With many spots only the line is drawn.
    if line.spots.len() <= 64 {
        svg.marks("dot", line.label.look, &places(&line.spots));
    }
    svg.close();
}
