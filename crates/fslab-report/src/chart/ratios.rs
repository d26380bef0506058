//! All phases in one picture: each subject's speed relative to the best of the phase as a point,
//! with the 95 % interval, on a logarithmic axis. A filled point is decided, a hollow one is not.
//!
//! ```text
//!     up to SHARED_MAX subjects: a row for each phase       more: a panel for each phase
//!
//!         Data writes                                                Data writes
//!         Write     |    -o-      *  ext4                            Write          Rewrite
//!         Rewrite   | -*-       o    xfs                       ext4  |   *       |  -o-
//!                   +-----------------                         xfs   |  -o-      |     *
//! ```

use fslab_compare::{Comparison, Standing};
use fslab_stats::{Interval, Verdict};

use super::Label;
use super::drawing::Drawing;
use super::lines::lines;
use super::numbers::text_width;
use super::outline::Point;
use super::scale::Scale;
use super::svg::{Anchor, Svg};

const WIDTH: f64 = 760.0;
/// Most subjects that share the row of a phase.
const SHARED_MAX: usize = 8;
/// Height of a group's title, of a line of a panel's title, and of the axis.
const HEAD: f64 = 22.0;
const LINE: f64 = 15.0;
const AXIS: f64 = 38.0;
/// Height of a subject's line in the row of a phase, by the number of subjects, and the gap
/// between rows.
const STEP: (f64, f64) = (12.0, 9.0);
const STEP_SUBJECTS: usize = 4;
const GAP: f64 = 8.0;
/// Width of the best subject's name beside the row.
const BEST: f64 = 104.0;
/// Width of the names of phases or subjects.
const NAMES: (f64, f64) = (110.0, 230.0);
/// Height of a subject's row in a panel, smallest width of a panel, and gap between panels.
const ROW: f64 = 13.0;
const PANEL: f64 = 128.0;
const BETWEEN: f64 = 16.0;
/// An interval is drawn up to this factor beyond the smallest and the largest ratio.
const REACH: f64 = 2.5;
/// Distance of a point from the end of the axis.
const MARGIN: f64 = 10.0;
/// Distance of the first row of a panel from its title.
const INSET: f64 = 5.0;
/// Half the width of a mark, and smallest distance between two ticks.
const MARK: f64 = 4.8;
const TICK_ROOM: f64 = 28.0;

/// A phase of the picture.
pub(crate) struct RatioRow<'a> {
    pub(crate) title: String,
    /// Its comparison, which is not empty.
    pub(crate) comparison: &'a Comparison,
}

/// Phases of one meaning.
pub(crate) struct RatioGroup<'a> {
    /// Their common title.
    pub(crate) title: String,
    /// At least one.
    pub(crate) rows: Vec<RatioRow<'a>>,
}

/// The picture of all phases.
pub(crate) struct Ratios<'a> {
    /// The subjects.
    pub(crate) labels: &'a [Label],
    /// The phases, in the order of their meaning.
    pub(crate) groups: Vec<RatioGroup<'a>>,
}

/// The place of a phase in the drawing.
struct Plot<'a> {
    comparison: &'a Comparison,
    scale: Scale,
    /// The left end of its axis.
    left: f64,
    /// The first subject's line, and the distance to the next.
    first: f64,
    step: f64,
}

impl Ratios<'_> {
    /// The drawing; `None` if there are no ratios.
    pub(crate) fn draw(&self) -> Option<Drawing> {
        let (low, high) = self.range()?;
        if self.labels.len() <= SHARED_MAX {
            let rows = self.in_rows((low, high)).into_drawing(&self.description());
            return Some(rows.under_legend(self.labels));
        }
        Some(
            self.in_panels((low, high))
                .into_drawing(&self.description()),
        )
    }

    fn rows(&self) -> impl Iterator<Item = &RatioRow<'_>> {
        self.groups.iter().flat_map(|group| &group.rows)
    }

    /// The ratios that the axis covers; far ends of intervals are cut.
    fn range(&self) -> Option<(f64, f64)> {
        let entries = self.rows().flat_map(|row| &row.comparison.entries);
        let speeds: Vec<_> = entries.filter_map(|entry| entry.to_best).collect();
        let values = || speeds.iter().map(|it| it.value).filter(|it| *it > 0.0);
        let low = values().reduce(f64::min)?;
        let high = values().fold(1.0, f64::max);
        let intervals = || speeds.iter().filter_map(|it| it.interval);
        let lowest = intervals().map(|it| it.low).fold(low, f64::min);
        let highest = intervals().map(|it| it.high).fold(high, f64::max);
        Some((lowest.max(low / REACH), highest.min(high * REACH)))
    }

    /// A row for each phase, which all subjects share.
    fn in_rows(&self, range: (f64, f64)) -> Svg {
        let subjects = self.labels.len();
        let step = if subjects <= STEP_SUBJECTS {
            STEP.0
        } else {
            STEP.1
        };
        let height = step * subjects as f64 + GAP;
        let left = names_width(self.rows().map(|row| row.title.as_str()));
        let right = WIDTH - BEST;
        let count = self.rows().count() as f64;
        let bottom = HEAD * self.groups.len() as f64 + height * count + 4.0;
        let mut svg = Svg::with_width(WIDTH, bottom + AXIS);
        let scale = Scale::logarithmic(range.0, range.1, left + MARGIN, right - MARGIN);
        grid(&mut svg, scale, (0.0, bottom));
        let (mut top, mut plots) = (0.0, Vec::new());
        for group in &self.groups {
            svg.text("head", Anchor::Start, (0.0, top + 15.0), &group.title);
            top += HEAD;
            for row in &group.rows {
                let middle = top + height / 2.0 + 4.0;
                let title = shortened(&row.title, left - 12.0);
                svg.text("label", Anchor::Start, (8.0, middle), &title);
                let (class, best) = self.best(row.comparison);
                let best = shortened(&best, BEST - 8.0);
                svg.text(class, Anchor::Start, (right + 8.0, middle), &best);
                svg.line("strip", (0.0, top + height), (right, top + height));
                let first = top + (GAP + step) / 2.0;
                plots.push(Plot {
                    comparison: row.comparison,
                    scale,
                    left,
                    first,
                    step,
                });
                top += height;
            }
        }
        self.marks(&mut svg, &plots);
        axis_title(&mut svg, right, bottom + 31.0);
        svg
    }

    /// A panel for each phase, with a row for each subject, whose names are at the left.
    fn in_panels(&self, range: (f64, f64)) -> Svg {
        let left = names_width(self.labels.iter().map(|label| label.name.as_str())) + 14.0;
        let fitting = ((WIDTH - left) / (PANEL + BETWEEN)).floor().max(1.0);
        let width = (WIDTH - left) / fitting - BETWEEN;
        let letters = (width / text_width("x")) as usize;
        let panels: Vec<(&str, &RatioRow)> = self
            .groups
            .iter()
            .flat_map(|group| group.rows.iter().map(|row| (group.title.as_str(), row)))
            .collect();
        let titles = |row: &RatioRow| lines(&row.title, letters);
        let most = panels.iter().map(|(_, row)| titles(row).len()).max();
        let head = HEAD + LINE * most.unwrap_or(1) as f64 + INSET;
        let rows = ROW * self.labels.len() as f64;
        let height = head + rows + AXIS;
        let shelves: Vec<_> = panels.chunks(fitting as usize).collect();
        let mut svg = Svg::with_width(WIDTH, height * shelves.len() as f64 + 12.0);
        let mut plots = Vec::new();
        for (index, shelf) in shelves.iter().enumerate() {
            let top = height * index as f64;
            let (first, bottom) = (top + head + ROW / 2.0, top + head + rows);
            let mut last_group = None;
            for (place, (group, row)) in shelf.iter().enumerate() {
                let from = left + (width + BETWEEN) * place as f64;
                if last_group != Some(group) {
                    svg.text("head", Anchor::Start, (from, top + 15.0), group);
                    last_group = Some(group);
                }
                for (line, words) in titles(row).iter().enumerate() {
                    let at = (from, top + HEAD + 12.0 + LINE * line as f64);
                    svg.text("label", Anchor::Start, at, words);
                }
                let ends = (from + MARGIN, from + width - MARGIN);
                let scale = Scale::logarithmic(range.0, range.1, ends.0, ends.1);
                grid(&mut svg, scale, (top + head, bottom));
                let comparison = row.comparison;
                plots.push(Plot {
                    comparison,
                    scale,
                    left: from,
                    first,
                    step: ROW,
                });
            }
            self.names(&mut svg, (left, first));
        }
        self.marks(&mut svg, &plots);
        axis_title(&mut svg, WIDTH - 14.0, height * shelves.len() as f64 + 8.0);
        svg
    }

    /// The subjects' names beside a row of panels.
    fn names(&self, svg: &mut Svg, (right, first): (f64, f64)) {
        for (subject, label) in self.labels.iter().enumerate() {
            let y = first + ROW * subject as f64;
            svg.open(label.look);
            svg.mark("key", label.look, (right - 10.0, y));
            let name = shortened(&label.name, right - 22.0);
            svg.text("label", Anchor::End, (right - 18.0, y + 4.0), &name);
            svg.close();
        }
    }

    /// The points of all phases, in a group for each subject.
    fn marks(&self, svg: &mut Svg, plots: &[Plot]) {
        for (subject, label) in self.labels.iter().enumerate() {
            let mut marks = Marks::default();
            for plot in plots {
                marks.add(plot, subject);
            }
            svg.open(label.look);
            svg.lines("cap", &marks.lines);
            svg.marks("dot", label.look, &marks.decided);
            svg.marks("cap", label.look, &marks.undecided);
            svg.close();
        }
    }

    /// The best subject of a phase with the class of its text.
    fn best(&self, comparison: &Comparison) -> (&'static str, String) {
        let name = |subject: usize| self.labels.get(subject).map(|label| label.name.clone());
        match comparison.winner().and_then(name) {
            Some(name) => ("value", name),
            None if comparison.with(Standing::Alone).next().is_some() => {
                ("none", "the only figure".to_owned())
            }
            None => ("none", "no winner".to_owned()),
        }
    }

    fn description(&self) -> String {
        let row = |row: &RatioRow| {
            let comparison = row.comparison;
            let Some(best) = comparison.best else {
                return format!("{}: no figure.", row.title);
            };
            let ranked = comparison.order();
            let undecided = ranked
                .iter()
                .filter(|subject| !is_decided(comparison, **subject));
            let undecided = undecided.filter(|subject| **subject != best).count();
            let behind = ranked.len().saturating_sub(undecided + 1);
            let name = self.labels.get(best).map_or("", |label| &label.name);
            format!(
                "{}: {name} is best, {behind} decided, {undecided} undecided.",
                row.title
            )
        };
        self.rows().map(row).collect::<Vec<_>>().join(" ")
    }
}

/// Whether a subject's speed relative to the best is known: faster, slower, or the same within the
/// tolerance. The best itself is decided if all others are.
fn is_decided(comparison: &Comparison, subject: usize) -> bool {
    let Some(best) = comparison.best else {
        return false;
    };
    let decided = |other: usize| comparison.verdict(other, best) != Verdict::Undecided;
    if subject != best {
        return decided(subject);
    }
    let mut others = comparison
        .order()
        .into_iter()
        .filter(|other| *other != best);
    comparison.winner() == Some(best) || others.all(decided)
}

/// What is drawn of one subject.
#[derive(Default)]
struct Marks {
    /// Intervals, and crosses where there is no figure.
    lines: Vec<(Point, Point)>,
    decided: Vec<Point>,
    undecided: Vec<Point>,
}

impl Marks {
    fn add(&mut self, plot: &Plot, subject: usize) {
        let y = plot.first + plot.step * subject as f64;
        let speed = plot
            .comparison
            .entries
            .get(subject)
            .and_then(|entry| entry.to_best);
        let Some(speed) = speed.filter(|speed| speed.value > 0.0) else {
            let (left, right) = (plot.left + 1.0, plot.left + 7.0);
            self.lines.push(((left, y - 3.0), (right, y + 3.0)));
            self.lines.push(((left, y + 3.0), (right, y - 3.0)));
            return;
        };
        let x = plot.scale.at(speed.value);
        let is_decided = is_decided(plot.comparison, subject);
        let interval = speed
            .interval
            .filter(|_| plot.comparison.best != Some(subject));
        if let Some(interval) = interval {
            self.interval(plot.scale, interval, (x, y), !is_decided);
        }
        match is_decided {
            true => self.decided.push((x, y)),
            false => self.undecided.push((x, y)),
        }
    }

    /// The line of an interval, which leaves out the inside of a hollow mark. An end beyond the
    /// axis has an arrow.
    fn interval(&mut self, scale: Scale, interval: Interval, (x, y): Point, is_hollow: bool) {
        let (low, high) = (scale.at(interval.low), scale.at(interval.high));
        let room = if is_hollow { MARK } else { 0.0 };
        for (end, inner) in [(low, x - room), (high, x + room)] {
            let outwards = if end < x { -1.0 } else { 1.0 };
            if (inner - end) * outwards < 0.0 {
                self.lines.push(((end, y), (inner, y)));
            }
            let is_cut = match end < x {
                true => !scale.has(Interval {
                    low: interval.low,
                    high: interval.low,
                }),
                false => scale.is_beyond(interval.high),
            };
            if is_cut {
                let tip = end + 4.0 * outwards;
                self.lines.push(((end, y - 3.0), (tip, y)));
                self.lines.push(((end, y + 3.0), (tip, y)));
            }
        }
    }
}

/// Vertical lines at the ticks, and their labels below. The best is at 1.
fn grid(svg: &mut Svg, scale: Scale, (top, bottom): (f64, f64)) {
    // The best comes first, so that its tick is always there.
    let mut ticks: Vec<f64> = vec![1.0];
    for tick in scale.ticks(4) {
        let is_free = |other: &f64| (scale.at(tick) - scale.at(*other)).abs() >= TICK_ROOM;
        if ticks.iter().all(is_free) {
            ticks.push(tick);
        }
    }
    let upright = |tick: &f64| ((scale.at(*tick), top), (scale.at(*tick), bottom));
    svg.lines("grid", &ticks.iter().map(upright).collect::<Vec<_>>());
    let (from, to) = upright(&1.0);
    svg.line("border", from, to);
    for tick in &ticks {
        let at = (scale.at(*tick), bottom + 14.0);
        svg.text("tick", Anchor::Middle, at, &tick_label(*tick));
    }
}

fn axis_title(svg: &mut Svg, right: f64, y: f64) {
    let title = "speed relative to the best · more is better · log axis";
    svg.text("axis", Anchor::End, (right, y), title);
}

fn tick_label(tick: f64) -> String {
    if tick < 0.000_95 {
        return format!("{tick:.0e}");
    }
    let text = format!("{tick:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn names_width<'a>(names: impl Iterator<Item = &'a str>) -> f64 {
    let widest = names.map(text_width).fold(0.0, f64::max);
    (widest + 24.0).clamp(NAMES.0, NAMES.1)
}

/// A text that is cut where it does not fit.
fn shortened(text: &str, width: f64) -> String {
    if text_width(text) <= width {
        return text.to_owned();
    }
    let letters = (width / text_width("x")) as usize;
    let kept: String = text.chars().take(letters.saturating_sub(1)).collect();
    format!("{kept}…")
}

#[cfg(test)]
mod tests {
    use fslab_model::definitions::THROUGHPUT;

    use super::*;

    /// The best, one behind, one undecided, one without a figure.
    fn comparison() -> Comparison {
        let samples = [
            vec![100.0, 100.5, 101.0, 100.2],
            vec![50.0, 50.5, 51.0, 50.2],
            vec![70.0, 100.0, 130.0, 95.0],
            Vec::new(),
        ];
        Comparison::of(&THROUGHPUT, samples.to_vec())
    }

    fn marks(subject: usize) -> Marks {
        let comparison = comparison();
        let plot = Plot {
            comparison: &comparison,
            scale: Scale::logarithmic(0.4, 1.25, 100.0, 600.0),
            left: 90.0,
            first: 10.0,
            step: 10.0,
        };
        let mut marks = Marks::default();
        marks.add(&plot, subject);
        marks
    }

    #[test]
    fn a_decided_point_is_filled_and_an_undecided_one_hollow_with_its_interval_outside() {
        let behind = marks(1);
        assert_eq!((behind.decided.len(), behind.undecided.len()), (1, 0));
        assert_eq!(behind.decided[0].1, 20.0);
        let open = marks(2);
        assert_eq!((open.decided.len(), open.undecided.len()), (0, 1));
        let (x, _) = open.undecided[0];
        for (from, to) in &open.lines {
            let is_outside = |at: f64| (at - x).abs() >= MARK - 1e-9;
            assert!(
                is_outside(from.0) && is_outside(to.0),
                "{from:?} {to:?} {x}"
            );
            assert!((from.0 < x) == (to.0 < x), "a line through the mark");
        }
        // The best is open as long as another one may be as fast.
        assert_eq!(marks(0).undecided.len(), 1);
        assert!(
            marks(0).lines.is_empty(),
            "the best has no interval to itself"
        );
    }

    #[test]
    fn a_missing_figure_is_a_cross_and_no_point() {
        let none = marks(3);
        assert_eq!(none.lines.len(), 2);
        assert!(none.decided.is_empty() && none.undecided.is_empty());
    }

    #[test]
    fn an_end_beyond_the_axis_has_an_arrow() {
        let scale = Scale::logarithmic(0.5, 1.2, 100.0, 600.0);
        let mut marks = Marks::default();
        let far = Interval {
            low: 1e-3,
            high: 1e3,
        };
        marks.interval(scale, far, (300.0, 5.0), false);
        assert_eq!(marks.lines.len(), 2 + 4);
        let mut near = Marks::default();
        let inside = Interval {
            low: 0.6,
            high: 1.1,
        };
        near.interval(scale, inside, (300.0, 5.0), false);
        assert_eq!(near.lines.len(), 2);
    }

    #[test]
    fn ticks_are_labelled_without_the_noise_of_floats() {
        assert_eq!(
            [1.0, 0.3 * 1.0000000001, 0.001, 3e-5].map(tick_label),
            ["1", "0.3", "0.001", "3e-5"]
        );
    }
}
