//! Every repeat as a point, with the geometric mean and the 95 % interval, one row per subject. An
//! exact figure is a single point.

use fslab_stats::Interval;

use super::axis::{Axis, TickUnit, title_of};
use super::drawing::Drawing;
use super::field::Field;
use super::lines::lines;
use super::scale::Scale;
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
        let mut field = Field::open(&mut svg, Some(self.axis()), None);
        field.across((20.0, bottom), RIGHT + 8.0);
        for (subject, entry) in self.comparison.entries.iter().enumerate() {
            self.row(&mut field, subject, entry);
        }
        field.close();
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

    fn axis(&self) -> Axis {
        let metric = self.comparison.metric;
        Axis {
            scale: self.scale(),
            high: self.values().fold(0.0, f64::max),
            ticks: TICKS,
            linear_factor_max: LINEAR_FACTOR_MAX,
            room: ROOM,
            unit: TickUnit::Common(metric.unit),
            title: title_of(metric),
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

    fn row(&self, field: &mut Field, subject: usize, entry: &Entry) {
        let (height, top) = (self.row_height(), self.row_height() * subject as f64);
        let (words, more) = (top + 13.0, self.more_lines());
        let strip = words + more + 0.4 * (height - more);
        let label = &self.subjects[subject];
        let look = label.look;
        field.svg.open(look);
        field.svg.mark("key", look, (LEFT + 4.0, words - 4.0));
        for (index, line) in name_lines(label).iter().enumerate() {
            let place = (LEFT + 14.0, words + LINE * index as f64);
            field.svg.text("label", Anchor::Start, place, line);
        }
        field.svg.line("strip", (LEFT, strip), (RIGHT, strip));
        if let Some(mean) = entry.mean() {
            self.figures(field, entry, (mean, strip), look);
            let figure = wording::figure(self.comparison.metric, mean);
            let place = (RIGHT + 8.0, words);
            field.svg.text("value", Anchor::End, place, &figure);
        } else {
            let why = self.absences.get(subject).cloned().flatten();
            let why = why.unwrap_or_else(|| "no figure".to_owned());
            // The full reason is below the phase's table.
            let mut short: String = why.chars().take(REASON_LETTERS).collect();
            if short.len() < why.len() {
                short.push('…');
            }
            let place = (LEFT + 14.0, strip + 4.0);
            field.svg.text("none", Anchor::Start, place, &short);
        }
        field.svg.close();
    }

    /// The interval, the mean and the repeats of a subject.
    fn figures(&self, field: &mut Field, entry: &Entry, (mean, y): (f64, f64), look: usize) {
        if let Some(interval) = interval(entry) {
            field.interval(interval, y);
        }
        if !self.comparison.exact {
            let ends = ((mean, y - 9.0), (mean, y + 9.0));
            field.lines("mean", &[ends]);
        }
        let place = |(index, value): (usize, &f64)| {
            // Fixed offsets, so that equal repeats do not cover one another.
            let offset = [0.0, -4.0, 4.0][index % 3];
            (*value, y + offset)
        };
        let points: Vec<_> = entry.values.iter().enumerate().map(place).collect();
        field.marks("dot", look, &points);
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

fn interval(entry: &Entry) -> Option<Interval> {
    entry.location?.interval
}
