//! Lines over an axis of sizes, counts or plain numbers: a figure over a dimension of a sweep, or
//! the values of a list.

use fslab_model::{MetricDefinition, Unit};

use super::axis::{Axis, TickUnit, title_of};
use super::drawing::Drawing;
use super::field::Field;
use super::outline::Zoom;
use super::scale::Scale;
use super::svg::{Anchor, Svg};
use super::{Label, WIDTH};
use crate::wording;

const TOP: f64 = 26.0;
const LEFT: f64 = 48.0;
/// Below the field: ticks and the axis' title.
const BELOW: f64 = 42.0;
/// A larger ratio of figures makes their axis logarithmic: upwards, and across.
const LINEAR_FACTOR_MAX: (f64, f64) = (10.0, 4.0);
/// Length of the vertical axis relative to its figures: linear, and logarithmic.
const ROOM: (f64, f64) = (1.06, 1.25);
const TICKS: u32 = 5;
/// Smallest width of a tick's label.
const LABEL_ROOM: f64 = 48.0;
/// More values of a sweep than these are not the ticks of a linear, and of a logarithmic axis.
const VALUES_MAX: (usize, usize) = (8, 24);
/// A plot of at least this width is a separate figure, and higher.
const WIDE: f64 = 600.0;

/// Pixels between lines that are drawn beside each other.
const APART: f64 = 4.0;

/// The quantity of an axis.
#[derive(Clone, Debug)]
pub(crate) struct Quantity {
    /// The axis' title; `{}` is the place of the unit.
    title: String,
    unit: TickUnit,
    /// `None` if it follows from the figures.
    is_logarithmic: Option<bool>,
    metric: Option<&'static MetricDefinition>,
}

impl Quantity {
    pub(crate) fn metric(metric: &'static MetricDefinition) -> Self {
        Self {
            metric: Some(metric),
            ..Self::new(title_of(metric), TickUnit::Common(metric.unit))
        }
    }

    /// Sizes in bytes.
    pub(crate) fn bytes(title: String) -> Self {
        Self::new(title, TickUnit::Binary)
    }

    /// Numbers without a unit.
    pub(crate) fn plain(title: String) -> Self {
        Self::new(title, TickUnit::Common(Unit::Count))
    }

    /// On an axis that is logarithmic or not, whatever the figures.
    pub(crate) fn fixed(title: String, unit: TickUnit, is_logarithmic: bool) -> Self {
        Self {
            is_logarithmic: Some(is_logarithmic),
            ..Self::new(title, unit)
        }
    }

    /// The same on an axis that is logarithmic or not, whatever the figures.
    pub(crate) fn on(self, is_logarithmic: bool) -> Self {
        Self {
            is_logarithmic: Some(is_logarithmic),
            ..self
        }
    }

    fn new(title: String, unit: TickUnit) -> Self {
        Self {
            title,
            unit,
            is_logarithmic: None,
            metric: None,
        }
    }

    /// A figure in words.
    fn words(&self, value: f64) -> String {
        match self.metric {
            Some(metric) => wording::figure(metric, value),
            None => self.unit.label(value, value),
        }
    }

    /// The vertical axis between two pixels; `None` without figures.
    pub(crate) fn upwards(&self, values: &[f64], (bottom, top): (f64, f64)) -> Option<Axis> {
        let (low, high) = self.range(values)?;
        let is_wide = low > 0.0 && high / low > LINEAR_FACTOR_MAX.0;
        let is_logarithmic = self.is_logarithmic.unwrap_or(is_wide);
        let scale = match is_logarithmic {
            true => Scale::logarithmic(low / ROOM.1, high * ROOM.1, bottom, top),
            false => Scale::from_zero(high * ROOM.0, bottom, top),
        };
        Some(self.axis(scale, high))
    }

    /// The horizontal axis between two pixels; `None` without figures.
    pub(crate) fn across(&self, values: &[f64], (left, right): (f64, f64)) -> Option<Axis> {
        let (low, high) = self.range(values)?;
        let is_wide = low > 0.0 && high / low >= LINEAR_FACTOR_MAX.1;
        let scale = match self.is_logarithmic.unwrap_or(is_wide) {
            true => Scale::logarithmic(low, high, left, right),
            false => Scale::between(low, high, left, right),
        };
        Some(self.axis(scale, high))
    }

    /// The smallest and the largest figure; of a logarithmic axis, of those above 0.
    fn range(&self, values: &[f64]) -> Option<(f64, f64)> {
        let is_shown = |value: &f64| self.is_logarithmic != Some(true) || *value > 0.0;
        let values = || values.iter().copied().filter(is_shown);
        Some((values().reduce(f64::min)?, values().reduce(f64::max)?))
    }

    fn axis(&self, scale: Scale, high: f64) -> Axis {
        Axis {
            scale,
            high,
            ticks: TICKS,
            linear_factor_max: match self.is_logarithmic {
                None => LINEAR_FACTOR_MAX.0,
                Some(true) => 1.0,
                Some(false) => f64::INFINITY,
            },
            room: ROOM,
            unit: self.unit,
            title: self.title.clone(),
        }
    }
}

/// The ticks of a horizontal axis with room for so many: the sizes and counts of a sweep, or round
/// figures.
pub(crate) fn ticks_across(axis: &Axis, values: &[f64], room: f64) -> Vec<f64> {
    let is_sweep = matches!(axis.unit, TickUnit::Binary | TickUnit::Common(Unit::Count));
    let is_few = values.len() <= VALUES_MAX.1 || axis.unit == TickUnit::Binary;
    let is_logarithmic = axis.scale.is_logarithmic();
    if is_sweep && (is_few && is_logarithmic || values.len() <= VALUES_MAX.0) {
        let step = (values.len() as f64 / room).ceil() as usize;
        return values.iter().copied().step_by(step.max(1)).collect();
    }
    axis.scale.ticks(TICKS + 1)
}

/// One point of a line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spot {
    pub(crate) x: f64,
    /// The geometric mean, the smallest and the largest of the repeats; `None` breaks the line.
    pub(crate) y: Option<[f64; 3]>,
}

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
    /// The drawing, which the page's script fits to the subjects that are shown; `None` without
    /// values.
    pub(crate) fn draw(&self) -> Option<Drawing> {
        self.draw_along((&[], 0.0), |svg, y| Field::open(svg, None, Some(y)))
    }

    /// The drawing with lines that are no subjects of the page, and so stay as they are, beside
    /// each other; the straight guide of each is dashed.
    pub(crate) fn draw_fixed(&self, guides: &[[(f64, f64); 2]]) -> Option<Drawing> {
        self.draw_along((guides, APART), |svg, y| Field::fixed(svg, None, Some(y)))
    }

    fn draw_along(
        &self,
        (guides, apart): (&[[(f64, f64); 2]], f64),
        begin: impl for<'s> FnOnce(&'s mut Svg, Axis) -> Field<'s>,
    ) -> Option<Drawing> {
        // Spots without a value included, so that the axis covers the entire dimension.
        let xs = distinct(self.lines.iter().flat_map(|line| &line.spots).map(|s| s.x));
        let values = self.spots().flat_map(|spot| spot.y).flatten();
        let of_guides = guides.iter().flatten().map(|(_, y)| *y);
        let values: Vec<f64> = values.chain(of_guides).collect();
        let height = if self.width >= WIDE { 360.0 } else { 250.0 };
        let (right, bottom) = (self.width - 14.0, height - BELOW);
        let x = self.x.across(&xs, (LEFT + 8.0, right - 6.0))?;
        let y = self.y.upwards(&values, (bottom, TOP))?;
        let scale = y.scale;
        let mut svg = Svg::with_width(self.width, height);
        let mut field = begin(&mut svg, y);
        field.upwards((LEFT, right));
        self.horizontal_axis(field.svg, (&x, &xs), (right, bottom));
        // Lines with the same places across would hide the spread of each other.
        let middle = (self.lines.len() as f64 - 1.0) / 2.0;
        let beside = |line: usize| (line as f64 - middle) * apart;
        for (line, [from, to]) in guides.iter().enumerate() {
            let place = |point: &(f64, f64)| (x.at(point.0) + beside(line), scale.at(point.1));
            field.svg.line("border", place(from), place(to));
        }
        for (place, line) in self.lines.iter().enumerate() {
            draw_line(&mut field, (&x, scale), line, beside(place));
        }
        field.close();
        Some(svg.into_drawing(&self.description()))
    }

    fn spots(&self) -> impl Iterator<Item = &Spot> {
        let spots = self.lines.iter().flat_map(|line| &line.spots);
        spots.filter(|spot| spot.y.is_some())
    }

    fn horizontal_axis(
        &self,
        svg: &mut Svg,
        (x, values): (&Axis, &[f64]),
        (right, bottom): (f64, f64),
    ) {
        for tick in ticks_across(x, values, (right - LEFT) / LABEL_ROOM) {
            let (at, label) = x.label(tick);
            svg.line("grid", (at, TOP), (at, bottom));
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
        let at = (right + 6.0, bottom + 31.0);
        svg.text("axis", Anchor::End, at, &x.title());
    }

    fn description(&self) -> String {
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
                    self.y.words(first),
                    self.x.words(from),
                    self.y.words(last),
                    self.x.words(to)
                ),
                _ => format!("{}: no figure.", line.label.name),
            }
        };
        self.lines.iter().map(line).collect::<Vec<_>>().join(" ")
    }
}

/// Width of a plot beside others.
pub(crate) const NARROW: f64 = WIDTH;

/// The distinct values in ascending order.
pub(crate) fn distinct(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    values
}

/// Draws a line so many pixels beside its places across.
fn draw_line(field: &mut Field, (x, y): (&Axis, Scale), line: &Line, beside: f64) {
    let figures = || line.spots.iter().filter_map(|spot| spot.y);
    let low = figures()
        .map(|[_, low, _]| low)
        .fold(f64::INFINITY, f64::min);
    let high = figures().map(|[_, _, high]| high).fold(0.0, f64::max);
    field.begin(line.label.look);
    // Places across, and figures.
    let places = |stretch: &[Spot]| -> Vec<(f64, f64)> {
        let places = stretch.iter();
        places
            .filter_map(|spot| Some((x.at(spot.x) + beside, spot.y?[0])))
            .collect()
    };
    let stretches = line.spots.split(|spot| spot.y.is_none()).map(places);
    let stretches: Vec<_> = stretches.filter(|points| points.len() > 1).collect();
    field.curves("curve", &stretches, Zoom(1.0, y.zoom(low, high)));
    let spread = line.spots.iter().filter_map(|spot| {
        let ([_, low, high], at) = (spot.y?, x.at(spot.x) + beside);
        (high > low).then_some(((at, low), (at, high)))
    });
    field.lines("cap", &spread.collect::<Vec<_>>());
    // With many spots only the line is drawn.
    if line.spots.len() <= 64 {
        field.marks("dot", line.label.look, &places(&line.spots));
    }
    field.svg.close();
}
