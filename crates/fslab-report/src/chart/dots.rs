//! Every repeat as a point, with the median and the 95 % interval, one line a subject. An exact
//! figure is a point alone.

use fslab_stats::Interval;

use super::drawing::Drawing;
use super::scale::{AxisUnit, Scale, direction};
use super::svg::{Anchor, Svg};
use super::{Label, WIDTH};
use crate::{Comparison, Entry, wording};

const LEFT: f64 = 6.0;
const RIGHT: f64 = WIDTH - 14.0;
/// Height of a row where subjects are many; few have more room, up to `ROW_MAX`.
const ROW: f64 = 42.0;
const ROW_MAX: f64 = 62.0;
/// Height that the rows of few subjects share.
const ROWS: f64 = 190.0;
const AXIS: f64 = 36.0;
/// Where figures differ by more than this factor, the axis is logarithmic.
const LINEAR_FACTOR_MAX: f64 = 30.0;
/// Letters of a subject's name that fit beside its figure.
const NAME_LETTERS: usize = 36;

/// A comparison to be drawn.
pub(crate) struct Dots<'a> {
    /// What is compared.
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
        self.axis(&mut svg, scale, bottom);
        for (subject, entry) in self.comparison.entries.iter().enumerate() {
            self.row(&mut svg, scale, subject, entry);
        }
        svg.into_drawing(&self.description())
    }

    fn row_height(&self) -> f64 {
        (ROWS / self.subjects.len().max(1) as f64).clamp(ROW, ROW_MAX)
    }

    fn values(&self) -> impl Iterator<Item = f64> + '_ {
        let entries = self.comparison.entries.iter();
        entries.flat_map(|entry| entry.values.iter().copied())
    }

    fn scale(&self) -> Scale {
        let high = self.values().fold(0.0, f64::max);
        let low = self.values().fold(f64::INFINITY, f64::min);
        if low > 0.0 && low.is_finite() && high / low > LINEAR_FACTOR_MAX {
            return Scale::logarithmic(low / 1.5, high * 1.5, LEFT, RIGHT);
        }
        let intervals = self.comparison.entries.iter().filter_map(interval);
        let reach = intervals.map(|interval| interval.high).fold(0.0, f64::max);
        // A wide interval shall not press the points together: it is cut, with an arrow.
        Scale::from_zero((high * 1.06).max(reach.min(high * 1.4)), LEFT, RIGHT)
    }

    fn axis(&self, svg: &mut Svg, scale: Scale, bottom: f64) {
        let metric = self.comparison.metric;
        let unit = AxisUnit::of(metric, self.values().fold(0.0, f64::max));
        let ticks = scale.ticks(4);
        let upright = |tick: &f64| ((scale.at(*tick), 20.0), (scale.at(*tick), bottom));
        svg.lines("grid", &ticks.iter().map(upright).collect::<Vec<_>>());
        svg.foot();
        for tick in ticks {
            let place = (scale.at(tick), bottom + 13.0);
            svg.text("tick", Anchor::Middle, place, &unit.label(tick));
        }
        let note = if scale.is_logarithmic() {
            " · log axis"
        } else {
            ""
        };
        let title = format!("{} · {}{note}", unit.name, direction(metric));
        let title = title.trim_start_matches(" · ");
        svg.text("axis", Anchor::End, (RIGHT + 8.0, bottom + 30.0), title);
        svg.close();
    }

    fn row(&self, svg: &mut Svg, scale: Scale, subject: usize, entry: &Entry) {
        let (height, top) = (self.row_height(), self.row_height() * subject as f64);
        let (words, strip) = (top + 13.0, top + 13.0 + 0.4 * height);
        let Label { name, look } = &self.subjects[subject];
        svg.open(*look);
        svg.mark("key", *look, (LEFT + 4.0, words - 4.0));
        let letters = if entry.median().is_some() {
            NAME_LETTERS
        } else {
            22
        };
        svg.short_text("label", (LEFT + 14.0, words), name, letters);
        svg.line("strip", (LEFT, strip), (RIGHT, strip));
        if let Some(median) = entry.median() {
            if let Some(interval) = interval(entry) {
                whisker(svg, scale, interval, strip);
            }
            if !self.comparison.exact {
                let x = scale.at(median);
                svg.line("median", (x, strip - 9.0), (x, strip + 9.0));
            }
            let place = |(index, value): (usize, &f64)| {
                // Fixed offsets, so that equal repeats do not hide one another.
                let offset = [0.0, -4.0, 4.0][index % 3];
                (scale.at(*value), strip + offset)
            };
            let points: Vec<_> = entry.values.iter().enumerate().map(place).collect();
            svg.marks("dot", *look, &points);
            let figure = wording::figure(self.comparison.metric, median);
            svg.text("value", Anchor::End, (RIGHT + 8.0, words), &figure);
        } else {
            let why = self.absences.get(subject).cloned().flatten();
            let why = why.unwrap_or_else(|| "no figure".to_owned());
            let mut why: String = why.chars().take(41).collect();
            if why.chars().count() == 41 {
                why.push('…');
            }
            svg.text("none", Anchor::Start, (LEFT + 14.0, strip + 4.0), &why);
        }
        svg.close();
    }

    fn description(&self) -> String {
        let metric = self.comparison.metric;
        let line = |(Label { name, .. }, entry): (&Label, &Entry)| match entry.median() {
            Some(value) if self.comparison.exact => {
                format!("{name}: {}.", wording::figure(metric, value))
            }
            Some(median) => {
                let repeats = wording::count(entry.values.len(), "repeat");
                let spread = interval(entry).map_or_else(String::new, |interval| {
                    let text = wording::figure_interval(metric, interval);
                    format!(", 95 % interval {text}")
                });
                let median = wording::figure(metric, median);
                format!("{name}: median {median}{spread}, {repeats}.")
            }
            None => format!("{name}: no figure."),
        };
        let lines = self.subjects.iter().zip(&self.comparison.entries).map(line);
        lines.collect::<Vec<_>>().join(" ")
    }
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
