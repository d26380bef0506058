//! Grouped bars: a group for each phase or value of a dimension, a bar for each subject. A bar
//! beyond the cap is cut there and labelled with its value.

use fslab_model::MetricDefinition;

use super::Label;
use super::drawing::Drawing;
use super::outline::Zoom;
use super::scale::{AxisUnit, Rule, Scale, direction};
use super::svg::{Anchor, Svg, text_width};
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
/// Between the end of a bar, or a mark, and its figure.
const BESIDE: f64 = 6.0;
/// Most letters of the reason for a missing bar.
const REASON_LETTERS: usize = 76;

/// A bar.
pub(crate) struct Bar<'a> {
    pub(crate) label: &'a Label,
    /// The median, the smallest and the largest of the repeats.
    pub(crate) value: Option<[f64; 3]>,
    /// Why there is no value.
    pub(crate) absence: String,
    /// Place of the published figure, in the same unit.
    pub(crate) published: Option<f64>,
}

/// The bars of a group.
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
        let common = self.is_common().then(|| self.scale(high));
        if let (Some(scale), Some(group)) = (common, self.groups.first()) {
            svg.along(self.rule(scale, group).as_ref(), None);
            axis(
                &mut svg,
                scale,
                (group.metric, self.cap.map_or(high, |c| c.min(high))),
                bottom,
            );
        }
        let mut top = 0.0;
        for group in &self.groups {
            let own = self.scale(group.high().unwrap_or(1.0));
            if common.is_none() {
                svg.along(self.rule(own, group).as_ref(), None);
            }
            svg.text("head", Anchor::Start, (0.0, top + 15.0), &group.title);
            for (index, bar) in group.bars.iter().enumerate() {
                let top = top + HEAD + STEP * index as f64;
                draw(&mut svg, common.unwrap_or(own), (group.metric, bar), top);
            }
            if common.is_none() {
                svg.close();
            }
            top += HEAD + STEP * group.bars.len() as f64 + GAP;
        }
        if common.is_some() {
            svg.close();
        }
        Some(svg.into_drawing(&self.description()))
    }

    fn left(&self) -> f64 {
        let bars = self.groups.iter().flat_map(|group| &group.bars);
        let widths = bars.map(|bar| text_width(&bar.label.name));
        let widest = widths.fold(0.0, f64::max);
        (widest + 22.0).clamp(LEFT_MIN, LEFT_MAX)
    }

    fn scale(&self, high: f64) -> Scale {
        let high = self.cap.map_or(high * ROOM, |cap| cap.min(high * ROOM));
        Scale::from_zero(high, self.left(), RIGHT)
    }

    /// `None` if bars are cut, because their ends are not at their figures.
    fn rule(&self, scale: Scale, group: &BarGroup) -> Option<Rule> {
        self.cap.is_none().then(|| Rule {
            scale,
            ticks: TICKS,
            linear_factor_max: f64::INFINITY,
            room: (ROOM, 1.0),
            unit: AxisUnit::base(group.metric),
        })
    }

    fn description(&self) -> String {
        let bar = |group: &BarGroup, bar: &Bar| match bar.value {
            Some([median, ..]) => {
                format!(
                    "{} {}",
                    bar.label.name,
                    wording::figure(group.metric, median)
                )
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

fn axis(svg: &mut Svg, scale: Scale, (metric, high): (&MetricDefinition, f64), bottom: f64) {
    let unit = AxisUnit::of(metric, high);
    let ticks = scale.ticks(TICKS);
    let upright = |tick: &f64| ((scale.at(*tick), HEAD - 4.0), (scale.at(*tick), bottom));
    svg.lines("grid x", &ticks.iter().map(upright).collect::<Vec<_>>());
    for tick in ticks {
        let x = scale.at(tick);
        svg.text(
            "tick x",
            Anchor::Middle,
            (x, bottom + 14.0),
            &unit.label(tick),
        );
    }
    let title = format!("{} · {}", unit.name, direction(metric));
    let title = title.trim_start_matches(" · ");
    svg.text("axis x", Anchor::End, (RIGHT, bottom + 31.0), title);
}

fn draw(svg: &mut Svg, scale: Scale, (metric, bar): (&MetricDefinition, &Bar), top: f64) {
    let (words, look) = (top + BAR - 2.0, bar.label.look);
    let (middle, highest) = bar
        .value
        .map_or((0.0, 0.0), |[middle, _, high]| (middle, high));
    svg.open_large(look, Zoom(scale.zoom(0.0, highest.max(middle)), 1.0), None);
    svg.mark("key", look, (6.0, top + BAR / 2.0));
    svg.text("label", Anchor::Start, (16.0, words), &bar.label.name);
    let mark = bar.published.map(|published| scale.at(published));
    if let Some([median, low, high]) = bar.value {
        let (from, to) = (scale.at(0.0), scale.at(median));
        svg.rectangle("bar", (from, top), (to.max(from + 1.0), top + BAR));
        if scale.is_beyond(median) {
            // Two slashes mark a cut bar.
            for slash in [to - 13.0, to - 8.0] {
                svg.line(
                    "cut",
                    (slash - 3.0, top + BAR + 2.0),
                    (slash + 3.0, top - 2.0),
                );
            }
        } else if high > low {
            let y = top + BAR / 2.0;
            svg.line("spread", (scale.at(low), y), (scale.at(high), y));
        }
        let figure = wording::figure(metric, median);
        let left = figure_left(scale.at(high).max(to), text_width(&figure), mark);
        svg.text("value end", Anchor::Start, (left, words), &figure);
    } else {
        let mut why: String = bar.absence.chars().take(REASON_LETTERS).collect();
        if bar.absence.chars().count() > REASON_LETTERS {
            why.push('…');
        }
        svg.text("none", Anchor::Start, (scale.at(0.0) + 4.0, words), &why);
    }
    if let Some(x) = mark {
        svg.line("then", (x, top - 2.5), (x, top + BAR + 2.5));
    }
    svg.close();
}

/// The left edge of a figure of `width` right of a bar that ends at `end`: right of the published
/// figure's mark, if that would cross it.
fn figure_left(end: f64, width: f64, mark: Option<f64>) -> f64 {
    let left = end + BESIDE;
    match mark {
        Some(mark) if (end..left + width).contains(&mark) => mark + BESIDE,
        _ => left,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_does_not_cross_the_published_mark() {
        let left = |mark| figure_left(100.0, 40.0, mark);
        assert_eq!(left(None), 106.0);
        assert_eq!(left(Some(99.0)), 106.0);
        assert_eq!(left(Some(100.0)), 106.0);
        assert_eq!(left(Some(120.0)), 126.0);
        assert_eq!(left(Some(145.0)), 151.0);
        assert_eq!(left(Some(146.0)), 106.0);
    }
}
