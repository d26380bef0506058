//! The rate over time, one thin line per repeat.

use fslab_model::{MetricDefinition, PhaseRecord, TimeSeries, Unit};

use super::axis::{Axis, TickUnit};
use super::drawing::Drawing;
use super::field::{Field, Shape};
use super::outline::Zoom;
use super::scale::Scale;
use super::svg::{Anchor, Svg};
use super::{Label, WIDTH};
use crate::wording;

const HEIGHT: f64 = 250.0;
const LEFT: f64 = 46.0;
const RIGHT: f64 = WIDTH - 12.0;
const TOP: f64 = 24.0;
const BOTTOM: f64 = HEIGHT - 40.0;
/// Length of the rates' axis relative to the largest rate.
const ROOM: f64 = 1.05;
const TICKS: u32 = 5;
/// Most points of a line; a longer series is joined into as many intervals.
const POINTS_MAX: usize = 80;
/// An early end is only seen in series of more points.
const ENDING_MIN: usize = 4;
/// At most one point in so many of each course may be beyond the axis,
const BEYOND_SHARE: usize = 8;
/// if that shortens the axis by more than this factor.
const BEYOND_FACTOR: f64 = 3.0;

/// The course of one repeat.
pub(crate) struct Course {
    /// The subject's index among the labels.
    subject: usize,
    /// Middle of each interval in nanoseconds, and the rate in it.
    points: Vec<(f64, f64)>,
    end_ns: f64,
}

impl Course {
    /// The rate over time of a phase, in the unit of its headline; `None` without a series of two
    /// intervals.
    pub(crate) fn of(
        subject: usize,
        record: &PhaseRecord,
        metric: &MetricDefinition,
    ) -> Option<Self> {
        let series = record.series.as_ref()?;
        let counts = match metric.unit {
            Unit::BytesPerSecond => &series.bytes,
            _ => &series.operations,
        };
        let points = rates(series, counts, record.elapsed_ns);
        (points.len() > 1).then(|| Self {
            subject,
            end_ns: record.elapsed_ns.unwrap_or(0) as f64,
            points,
        })
    }

    /// True if nothing was done in the last fifth of the phase, as during a final fsync.
    pub(crate) fn ends_before_its_phase(&self) -> bool {
        let last = self.points.last();
        last.is_some_and(|(ns, _)| *ns < 0.8 * self.end_ns) && self.points.len() > ENDING_MIN
    }
}

/// Rates per interval. The last interval is divided by the part of it that the phase used; if that
/// is less than a third, it is joined to the one before, because its rate would be noise.
fn rates(series: &TimeSeries, counts: &[u64], elapsed_ns: Option<u64>) -> Vec<(f64, f64)> {
    let width = series.interval_ns as f64;
    if width <= 0.0 {
        return Vec::new();
    }
    let end = elapsed_ns.map_or(f64::INFINITY, |ns| ns as f64);
    let joined = counts.len().div_ceil(POINTS_MAX).max(1);
    let mut spans: Vec<(f64, f64, f64)> = Vec::new();
    for (index, chunk) in counts.chunks(joined).enumerate() {
        let from = (index * joined) as f64 * width;
        let to = (from + chunk.len() as f64 * width).min(end.max(from));
        let count: f64 = chunk.iter().map(|count| *count as f64).sum();
        match spans.last_mut() {
            Some(last) if to - from < width * joined as f64 / 3.0 => {
                last.1 = last.1.max(to);
                last.2 += count;
            }
            _ => spans.push((from, to, count)),
        }
    }
    let rate = |(from, to, count): (f64, f64, f64)| {
        (to > from).then(|| (f64::midpoint(from, to), count * 1e9 / (to - from)))
    };
    spans.into_iter().filter_map(rate).collect()
}

/// Courses to be drawn.
pub(crate) struct Series<'a> {
    pub(crate) metric: &'static MetricDefinition,
    /// The subjects' names.
    pub(crate) subjects: &'a [Label],
    pub(crate) courses: &'a [Course],
    /// Whether a few rates far above all others may be beyond the axis, each with an arrow. In
    /// virtual time writing to the page cache takes no time, so its rate is unbounded.
    pub(crate) cut: bool,
}

impl Series<'_> {
    /// The drawing; `None` without courses.
    pub(crate) fn draw(&self) -> Option<Drawing> {
        let high = self.rates().fold(0.0, f64::max);
        let ends = self.courses.iter().map(|course| course.end_ns);
        let end = ends.fold(0.0, f64::max);
        if self.courses.is_empty() || end <= 0.0 {
            return None;
        }
        let reach = self.cut.then(|| reach(self.courses)).flatten();
        let top = reach.unwrap_or(high);
        let axis = |scale, high, room, unit, title: &str| Axis {
            scale,
            high,
            ticks: TICKS,
            linear_factor_max: f64::INFINITY,
            room: (room, 1.0),
            unit: TickUnit::Common(unit),
            title: title.to_owned(),
        };
        let (x, y) = (
            Scale::from_zero(end, LEFT, RIGHT),
            Scale::from_zero(top * ROOM, BOTTOM, TOP),
        );
        let since = "{} since the phase began";
        let mut svg = Svg::new(HEIGHT);
        let mut field = Field::open(
            &mut svg,
            Some(axis(x, end, 1.0, Unit::Nanoseconds, since)),
            Some(axis(y, top, ROOM, self.metric.unit, "{}")),
        );
        field.upwards((LEFT, RIGHT));
        field.across((TOP, BOTTOM), RIGHT + 6.0);
        if reach.is_some() {
            let most = wording::figure(self.metric, high);
            let note = format!("↑ beyond, up to {most}");
            let place = (RIGHT + 6.0, 12.0);
            field.svg.text("axis beyond", Anchor::End, place, &note);
        }
        for (subject, label) in self.subjects.iter().enumerate() {
            let own = self.courses.iter().filter(|it| it.subject == subject);
            draw(&mut field, (x, y), &own.collect::<Vec<_>>(), label.look);
        }
        field.close();
        Some(svg.into_drawing(&description(self.metric, self.subjects, self.courses)))
    }

    fn rates(&self) -> impl Iterator<Item = f64> + '_ {
        let points = self.courses.iter().flat_map(|course| &course.points);
        points.map(|(_, rate)| *rate)
    }
}

/// Draws the courses of one subject.
fn draw(field: &mut Field, (x, y): (Scale, Scale), courses: &[&Course], look: usize) {
    if courses.is_empty() {
        return;
    }
    let points = || courses.iter().flat_map(|course| &course.points).copied();
    let rates = points().map(|(_, rate)| rate);
    let high = rates.filter(|rate| !y.is_beyond(*rate)).fold(0.0, f64::max);
    let end_ns = courses.iter().map(|it| it.end_ns).fold(0.0, f64::max);
    let lines: Vec<_> = courses.iter().map(|it| it.points.clone()).collect();
    field.svg.open(look);
    let zoom = Zoom(x.zoom(0.0, end_ns), y.zoom(0.0, high));
    field.curves("course", &lines, zoom);
    let ends = lines.iter().filter_map(|line| line.last().copied());
    field.end_marks(look, &ends.collect::<Vec<_>>());
    let beyond: Vec<_> = points().filter(|(_, rate)| y.is_beyond(*rate)).collect();
    field.shapes("cap", Shape::Up, &beyond);
    field.svg.close();
}

/// The end of an axis that leaves out rates far above all others: the lower side of the widest gap
/// between two rates with at most an eighth of each course above it. `None` if that shortens the
/// axis little.
fn reach(courses: &[Course]) -> Option<f64> {
    let points = courses.iter().flat_map(|course| &course.points);
    let mut rates: Vec<f64> = points.map(|(_, rate)| *rate).collect();
    rates.sort_by(|a, b| b.total_cmp(a));
    let few = |reach: f64| {
        courses.iter().all(|course| {
            let beyond = course.points.iter().filter(|(_, rate)| *rate > reach);
            beyond.count() * BEYOND_SHARE <= course.points.len()
        })
    };
    let gaps = rates.windows(2).filter(|pair| pair[1] < pair[0]);
    let widest = gaps
        .take_while(|pair| pair[1] > 0.0 && few(pair[1]))
        .max_by(|a, b| (a[0] / a[1]).total_cmp(&(b[0] / b[1])))?;
    let reach = widest[1];
    (reach * BEYOND_FACTOR < rates[0]).then_some(reach)
}

fn description(metric: &MetricDefinition, subjects: &[Label], courses: &[Course]) -> String {
    let mut lines = Vec::new();
    for (subject, Label { name, .. }) in subjects.iter().enumerate() {
        let rates = || {
            courses
                .iter()
                .filter(|course| course.subject == subject)
                .flat_map(|course| course.points.iter().map(|(_, rate)| *rate))
        };
        if rates().next().is_some() {
            let low = wording::figure(metric, rates().fold(f64::INFINITY, f64::min));
            let high = wording::figure(metric, rates().fold(0.0, f64::max));
            lines.push(format!("{name}: between {low} and {high}."));
        }
    }
    lines.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(counts: &[u64], elapsed_ns: u64) -> Vec<(f64, f64)> {
        let series = TimeSeries {
            interval_ns: 100,
            operations: counts.to_vec(),
            bytes: Vec::new(),
        };
        rates(&series, counts, Some(elapsed_ns))
    }

    #[test]
    fn the_last_interval_is_divided_by_what_was_used_of_it() {
        assert_eq!(of(&[10, 10, 5], 250)[2], (225.0, 1e8));
    }

    #[test]
    fn a_sliver_at_the_end_is_joined_to_the_interval_before() {
        let points = of(&[10, 10, 1], 210);
        assert_eq!(points.len(), 2);
        assert!((points[1].1 - 1e8).abs() < 1.0, "{points:?}");
    }

    #[test]
    fn a_long_series_is_joined_and_loses_no_operation() {
        let points = of(&vec![10; 1000], 100_000);
        assert!(points.len() <= POINTS_MAX);
        assert!(points.iter().all(|(_, rate)| (rate - 1e8).abs() < 1.0));
    }

    #[test]
    fn a_series_without_a_width_is_none() {
        let series = TimeSeries::default();
        assert!(rates(&series, &[1, 2], Some(5)).is_empty());
    }

    fn course(rates: &[f64]) -> Course {
        let points = rates.iter().zip(1..);
        Course {
            subject: 0,
            points: points
                .map(|(rate, second)| (f64::from(second) * 1e9, *rate))
                .collect(),
            end_ns: rates.len() as f64 * 1e9,
        }
    }

    #[test]
    fn the_axis_leaves_out_few_rates_and_only_those_that_dwarf_all_others() {
        let burst = |first: f64| {
            let mut rates = [40.0; 16];
            (rates[0], rates[5]) = (first, 60.0);
            course(&rates)
        };
        assert_eq!(reach(&[burst(1_500.0), burst(1_000.0)]), Some(60.0));
        assert_eq!(
            reach(&[burst(150.0)]),
            None,
            "as if there were little to gain"
        );
        // A subject that is fast throughout is shown.
        let fast = course(&[900.0, 0.0, 910.0]);
        assert_eq!(reach(&[burst(41.0), fast]), None);
        assert_eq!(reach(&[course(&[0.0; 9])]), None);
        assert_eq!(reach(&[]), None);
    }

    #[test]
    fn rates_beyond_the_axis_have_an_arrow_and_a_note() {
        let mut rates = [40e6; 16];
        rates[0] = 1_500e6;
        let (courses, subjects) = (
            [course(&rates)],
            [Label {
                name: "ext4".into(),
                look: 0,
            }],
        );
        let draw = |cut| {
            let series = Series {
                metric: &fslab_model::definitions::THROUGHPUT,
                subjects: &subjects,
                courses: &courses,
                cut,
            };
            let drawing = series.draw().expect("a course");
            drawing.body + &drawing.description
        };
        let (cut, full) = (draw(true), draw(false));
        assert_eq!(cut.matches("m-4 1l4-5 4 5").count(), 1);
        assert!(cut.contains("↑ beyond, up to 1.50 GB/s") && cut.contains(">MB/s<"));
        assert!(!full.contains("beyond") && full.contains(">GB/s<"));
        assert!(cut.contains("ext4: between 40.0 MB/s and 1.50 GB/s."));
    }
}
