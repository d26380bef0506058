//! Grouped bars: a group for each phase or value of a dimension, a bar for each subject. A bar
//! beyond the cap is cut there and labelled with its value.

use fslab_model::MetricDefinition;

use super::Label;
use super::axis::{Axis, TickUnit, title_of};
use super::drawing::Drawing;
use super::field::{BESIDE, Field};
use super::numbers::text_width;
use super::scale::Scale;
use super::svg::{Anchor, Svg};
use crate::wording;

const WIDTH: f64 = 760.0;
/// The left edge of the bars: right of the longest name, at most half of the drawing.
const LEFT_MIN: f64 = 150.0;
const LEFT_MAX: f64 = WIDTH / 2.0;
const RIGHT: f64 = WIDTH - 92.0;
const BAR: f64 = 12.0;
const STEP: f64 = 17.0;
/// Height of a group's title, and of the gap below its bars.
const HEAD: f64 = 22.0;
const GAP: f64 = 8.0;
const AXIS: f64 = 38.0;
/// Length of an axis relative to its largest figure.
const ROOM: f64 = 1.02;
const TICKS: u32 = 6;
/// Most letters of the reason for a missing bar.
const REASON_LETTERS: usize = 76;

pub(crate) struct Bar<'a> {
    pub(crate) label: &'a Label,
    /// The geometric mean, the smallest and the largest of the repeats.
    pub(crate) value: Option<[f64; 3]>,
    /// Why there is no value.
    pub(crate) absence: String,
    /// Place of the published figure, in the same unit.
    pub(crate) published: Option<f64>,
}

pub(crate) struct BarGroup<'a> {
    pub(crate) title: String,
    pub(crate) metric: &'static MetricDefinition,
    pub(crate) bars: Vec<Bar<'a>>,
}

/// A chart of grouped bars.
pub(crate) struct GroupedBars<'a> {
    pub(crate) groups: Vec<BarGroup<'a>>,
    /// The largest figure drawn.
    pub(crate) cap: Option<f64>,
}

impl GroupedBars<'_> {
    /// True if all groups share one scale; otherwise units differ and each group has its own.
    fn is_common(&self) -> bool {
        let metrics = self.groups.windows(2);
        metrics
            .into_iter()
            .all(|pair| pair[0].metric == pair[1].metric)
    }

    /// The drawing; `None` without bars.
    pub(crate) fn draw(&self) -> Option<Drawing> {
        let high = self
            .groups
            .iter()
            .filter_map(BarGroup::high)
            .reduce(f64::max)?;
        let rows: usize = self.groups.iter().map(|group| group.bars.len()).sum();
        let groups = self.groups.len() as f64;
        let bottom = STEP * rows as f64 + (HEAD + GAP) * groups;
        let mut svg = Svg::with_width(WIDTH, bottom + AXIS);
        match self.groups.first().filter(|_| self.is_common()) {
            Some(group) => {
                let mut field = self.field(&mut svg, group.metric, high);
                field.across((HEAD - 4.0, bottom), RIGHT);
                draw_groups(&mut field, &self.groups, 0.0);
                field.close();
            }
            None => {
                let mut top = 0.0;
                for group in &self.groups {
                    let high = group.high().unwrap_or(1.0);
                    let mut field = self.field(&mut svg, group.metric, high);
                    top = draw_groups(&mut field, std::slice::from_ref(group), top);
                    field.close();
                }
            }
        }
        Some(svg.into_drawing(&self.description()))
    }

    fn left(&self) -> f64 {
        let bars = self.groups.iter().flat_map(|group| &group.bars);
        let widths = bars.map(|bar| text_width(&bar.label.name));
        let widest = widths.fold(0.0, f64::max);
        (widest + 22.0).clamp(LEFT_MIN, LEFT_MAX)
    }

    /// Begins bars up to `high`. Cut bars are not drawn again, because they do not end at their
    /// figures.
    fn field<'s>(&self, svg: &'s mut Svg, metric: &MetricDefinition, high: f64) -> Field<'s> {
        let length = self.cap.map_or(high * ROOM, |cap| cap.min(high * ROOM));
        let axis = Axis {
            scale: Scale::from_zero(length, self.left(), RIGHT),
            high: self.cap.map_or(high, |cap| cap.min(high)),
            ticks: TICKS,
            linear_factor_max: f64::INFINITY,
            room: (ROOM, 1.0),
            unit: TickUnit::Common(metric.unit),
            title: title_of(metric),
        };
        match self.cap {
            None => Field::open(svg, Some(axis), None),
            Some(_) => Field::fixed(svg, Some(axis), None),
        }
    }

    fn description(&self) -> String {
        let bar = |group: &BarGroup, bar: &Bar| match bar.value {
            Some([mean, ..]) => {
                format!("{} {}", bar.label.name, wording::figure(group.metric, mean))
            }
            None => format!("{} no figure", bar.label.name),
        };
        let group = |group: &BarGroup| {
            let bars: Vec<String> = group.bars.iter().map(|b| bar(group, b)).collect();
            format!("{}: {}.", group.title, bars.join(", "))
        };
        self.groups.iter().map(group).collect::<Vec<_>>().join(" ")
    }
}

impl BarGroup<'_> {
    fn high(&self) -> Option<f64> {
        let values = self.bars.iter().filter_map(|bar| bar.value);
        values.map(|[.., high]| high).reduce(f64::max)
    }
}

/// Draws groups from `top` on, and returns where they end.
fn draw_groups(field: &mut Field, groups: &[BarGroup], mut top: f64) -> f64 {
    for group in groups {
        let place = (0.0, top + 15.0);
        field.svg.text("head", Anchor::Start, place, &group.title);
        for (index, bar) in group.bars.iter().enumerate() {
            let top = top + HEAD + STEP * index as f64;
            draw(field, (group.metric, bar), top);
        }
        top += HEAD + STEP * group.bars.len() as f64 + GAP;
    }
    top
}

fn draw(field: &mut Field, (metric, bar): (&MetricDefinition, &Bar), top: f64) {
    let (words, look) = (top + BAR - 2.0, bar.label.look);
    field.svg.open(look);
    field.svg.mark("key", look, (6.0, top + BAR / 2.0));
    let name = (16.0, words);
    field
        .svg
        .text("label", Anchor::Start, name, &bar.label.name);
    if let Some([mean, low, high]) = bar.value {
        field.rectangle("bar", ((0.0, top), (mean, top + BAR)), 1.0);
        let end = field.across_at(mean);
        if field.is_beyond((mean, top)) {
            // Two slashes mark a cut bar.
            for slash in [end - 13.0, end - 8.0] {
                let ends = ((slash - 3.0, top + BAR + 2.0), (slash + 3.0, top - 2.0));
                field.svg.line("cut", ends.0, ends.1);
            }
        } else if high > low {
            let y = top + BAR / 2.0;
            field.lines("spread", &[((low, y), (high, y))]);
        }
        let figure = wording::figure(metric, mean);
        let place = beside(field, bar, (high.max(mean), text_width(&figure)));
        field.beside(place, words, &figure);
    } else {
        let mut why: String = bar.absence.chars().take(REASON_LETTERS).collect();
        if bar.absence.chars().count() > REASON_LETTERS {
            why.push('…');
        }
        let place = (field.across_at(0.0) + 4.0, words);
        field.svg.text("none", Anchor::Start, place, &why);
    }
    if let Some(published) = bar.published {
        let (above, below) = ((published, top - 2.5), (published, top + BAR + 2.5));
        field.lines("then", &[(above, below)]);
    }
    field.svg.close();
}

/// The figure beside whose place the text of `width` stands: the end of the bar, or the published
/// figure if its mark would cross the text.
fn beside(field: &Field, bar: &Bar, (end, width): (f64, f64)) -> f64 {
    let from = field.across_at(end);
    let is_crossed = |published: &f64| {
        let mark = field.across_at(*published);
        (from..from + BESIDE + width).contains(&mark)
    };
    bar.published.filter(is_crossed).unwrap_or(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_does_not_cross_the_published_mark() {
        let label = Label {
            name: "ext4".into(),
            look: 0,
        };
        let mut svg = Svg::new(100.0);
        let axis = Axis {
            scale: Scale::from_zero(500.0, 0.0, 500.0),
            high: 500.0,
            ticks: TICKS,
            linear_factor_max: f64::INFINITY,
            room: (1.0, 1.0),
            unit: TickUnit::Common(fslab_model::Unit::Count),
            title: String::new(),
        };
        let field = Field::open(&mut svg, Some(axis), None);
        let place = |published| {
            let bar = Bar {
                label: &label,
                value: None,
                absence: String::new(),
                published,
            };
            beside(&field, &bar, (100.0, 40.0))
        };
        assert_eq!(place(None), 100.0);
        assert_eq!(place(Some(99.0)), 100.0);
        assert_eq!(place(Some(120.0)), 120.0);
        assert_eq!(place(Some(145.0)), 145.0);
        assert_eq!(place(Some(146.0)), 100.0);
    }
}
