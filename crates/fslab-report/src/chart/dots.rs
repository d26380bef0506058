//! Every repeat as a point, with the geometric mean and the 95 % interval, one row per subject. An
//! exact figure is a single point.

use fslab_stats::Interval;

use super::drawing::Drawing;
use super::lines::lines;
use super::outline::Zoom;
use super::scale::{AxisUnit, Rule, Scale, direction};
use super::svg::{Anchor, Svg};
use super::{Label, WIDTH};
use crate::wording;
use fslab_compare::{Comparison, Entry};

const LEFT: f64 = 6.0;
const RIGHT: f64 = WIDTH - 14.0;
/// Height of a row with many subjects; with few, up to `ROW_MAX`.
const ROW: f64 = 42.0;
const ROW_MAX: f64 = 62.0;
/// Height shared by the rows of few subjects.
const ROWS: f64 = 190.0;
const AXIS: f64 = 36.0;
/// A larger ratio of figures makes the axis logarithmic.
const LINEAR_FACTOR_MAX: f64 = 30.0;
/// Length of the axis relative to the largest figure: linear; and logarithmic, on both sides.
const ROOM: (f64, f64) = (1.06, 1.5);
const TICKS: u32 = 4;
/// Letters of a name that fit beside its figure on a small telephone, and the height of a line.
const NAME_LETTERS: usize = 28;
const LINE: f64 = 14.0;
/// Most letters of the reason for a missing figure.
const REASON_LETTERS: usize = 41;

/// A comparison to draw.
pub(crate) struct Dots<'a> {
    /// The comparison.
    pub(crate) comparison: &'a Comparison,
    /// The subjects' names.
    pub(crate) subjects: &'a [Label],
    /// Why a subject has no figure.
    pub(crate) absences: &'a [Option<String>],
}

impl Dots<'_> {
    pub(crate) fn draw(&self) -> Drawing {
        let bottom = self.row_height() * self.subjects.len() as f64 + 2.0;
        let mut svg = Svg::new(bottom + AXIS).in_rows(self.row_height());
        let scale = self.scale();
        svg.along(Some(&self.rule(scale)), None);
        self.axis(&mut svg, scale, bottom);
        for (subject, entry) in self.comparison.entries.iter().enumerate() {
            self.row(&mut svg, scale, subject, entry);
        }
        svg.close();
        svg.into_drawing(&self.description())
    }

    fn row_height(&self) -> f64 {
        let usual = (ROWS / self.subjects.len().max(1) as f64).clamp(ROW, ROW_MAX);
        usual + self.more_lines()
    }

    /// Height of the longest name beyond its first line; all rows have the same height.
    fn more_lines(&self) -> f64 {
        let counts = self.subjects.iter().map(|label| name_lines(label).len());
        LINE * (counts.max().unwrap_or(1) - 1) as f64
    }

    fn rule(&self, scale: Scale) -> Rule {
        Rule {
            scale,
            ticks: TICKS,
            linear_factor_max: LINEAR_FACTOR_MAX,
            room: ROOM,
            unit: AxisUnit::base(self.comparison.metric),
        }
    }

    fn values(&self) -> impl Iterator<Item = f64> + '_ {
        let entries = self.comparison.entries.iter();
        entries.flat_map(|entry| entry.values.iter().copied())
    }

    fn scale(&self) -> Scale {
        let high = self.values().fold(0.0, f64::max);
        let low = self.values().fold(f64::INFINITY, f64::min);
        if low > 0.0 && low.is_finite() && high / low > LINEAR_FACTOR_MAX {
            return Scale::logarithmic(low / ROOM.1, high * ROOM.1, LEFT, RIGHT);
        }
        let intervals = self.comparison.entries.iter().filter_map(interval);
        let reach = intervals.map(|interval| interval.high).fold(0.0, f64::max);
        // A very wide interval is cut, with an arrow, so that it does not compress the points.
        Scale::from_zero((high * ROOM.0).max(reach.min(high * 1.4)), LEFT, RIGHT)
    }

    fn axis(&self, svg: &mut Svg, scale: Scale, bottom: f64) {
        let metric = self.comparison.metric;
        let unit = AxisUnit::of(metric, self.values().fold(0.0, f64::max));
        let ticks = scale.ticks(TICKS);
        let upright = |tick: &f64| ((scale.at(*tick), 20.0), (scale.at(*tick), bottom));
        svg.lines("grid x", &ticks.iter().map(upright).collect::<Vec<_>>());
        svg.foot();
        for tick in ticks {
            let place = (scale.at(tick), bottom + 13.0);
            svg.text("tick x", Anchor::Middle, place, &unit.label(tick));
        }
        let note = if scale.is_logarithmic() {
            " · log axis"
        } else {
            ""
        };
        let title = format!("{} · {}{note}", unit.name, direction(metric));
        let title = title.trim_start_matches(" · ");
        svg.text("axis x", Anchor::End, (RIGHT + 8.0, bottom + 30.0), title);
        svg.close();
    }

    fn row(&self, svg: &mut Svg, scale: Scale, subject: usize, entry: &Entry) {
        let (height, top) = (self.row_height(), self.row_height() * subject as f64);
        let (words, more) = (top + 13.0, self.more_lines());
        let strip = words + more + 0.4 * (height - more);
        let label = &self.subjects[subject];
        let look = &label.look;
        let beyond = interval(entry).filter(|interval| !scale.has(*interval));
        svg.open_large(*look, zoom(scale, entry), beyond);
        svg.mark("key", *look, (LEFT + 4.0, words - 4.0));
        for (index, line) in name_lines(label).iter().enumerate() {
            let place = (LEFT + 14.0, words + LINE * index as f64);
            svg.text("label", Anchor::Start, place, line);
        }
        svg.line("strip", (LEFT, strip), (RIGHT, strip));
        if let Some(mean) = entry.mean() {
            if let Some(interval) = interval(entry) {
                whisker(svg, scale, interval, strip);
            }
            if !self.comparison.exact {
                let x = scale.at(mean);
                svg.line("mean", (x, strip - 9.0), (x, strip + 9.0));
            }
            let place = |(index, value): (usize, &f64)| {
                // Fixed offsets, so that equal repeats do not cover one another.
                let offset = [0.0, -4.0, 4.0][index % 3];
                (scale.at(*value), strip + offset)
            };
            let points: Vec<_> = entry.values.iter().enumerate().map(place).collect();
            svg.marks("dot", *look, &points);
            let figure = wording::figure(self.comparison.metric, mean);
            svg.text("value", Anchor::End, (RIGHT + 8.0, words), &figure);
        } else {
            let why = self.absences.get(subject).cloned().flatten();
            let why = why.unwrap_or_else(|| "no figure".to_owned());
            // The full reason is below the phase's table.
            let mut short: String = why.chars().take(REASON_LETTERS).collect();
            if short.len() < why.len() {
                short.push('…');
            }
            let place = (LEFT + 14.0, strip + 4.0);
            svg.text("none", Anchor::Start, place, &short);
        }
        svg.close();
    }

    fn description(&self) -> String {
        let metric = self.comparison.metric;
        let line = |(Label { name, .. }, entry): (&Label, &Entry)| match entry.mean() {
            Some(value) if self.comparison.exact => {
                format!("{name}: {}.", wording::figure(metric, value))
            }
            Some(mean) => {
                let repeats = wording::count(entry.values.len(), "repeat");
                let spread = interval(entry).map_or_else(String::new, |interval| {
                    let text = wording::figure_interval(metric, interval);
                    format!(", 95 % interval {text}")
                });
                let mean = wording::figure(metric, mean);
                format!("{name}: geometric mean {mean}{spread}, {repeats}.")
            }
            None => format!("{name}: no figure."),
        };
        let lines = self.subjects.iter().zip(&self.comparison.entries).map(line);
        lines.collect::<Vec<_>>().join(" ")
    }
}

fn name_lines(label: &Label) -> Vec<String> {
    lines(&label.name, NAME_LETTERS)
}

/// The enlargement of the subject when the others are hidden.
fn zoom(scale: Scale, entry: &Entry) -> Zoom {
    let values = || entry.values.iter().copied();
    let (low, high) = (
        values().fold(f64::INFINITY, f64::min),
        values().fold(0.0, f64::max),
    );
    Zoom(scale.zoom(low, high), 1.0)
}

fn interval(entry: &Entry) -> Option<Interval> {
    entry.location?.interval
}

fn whisker(svg: &mut Svg, scale: Scale, interval: Interval, y: f64) {
    let (low, high) = (scale.at(interval.low), scale.at(interval.high));
    svg.line("interval", (low, y), (high, y));
    let ends = [low, high].map(|x| ((x, y - 4.0), (x, y + 4.0)));
    if scale.is_beyond(interval.high) {
        svg.lines("cap", &ends[..1]);
        svg.polyline(
            "cap",
            &[
                (high - 1.0, y - 4.0),
                (high + 4.0, y),
                (high - 1.0, y + 4.0),
            ],
        );
    } else {
        svg.lines("cap", &ends);
    }
}
