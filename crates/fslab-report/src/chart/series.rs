//! The rate over time, one thin line a repeat.

use fslab_model::definitions::ELAPSED;
use fslab_model::{MetricDefinition, PhaseRecord, TimeSeries, Unit};

use super::scale::{AxisUnit, Scale};
use super::svg::{Anchor, Svg};
use super::{Label, Names, WIDTH};
use crate::wording;

const HEIGHT: f64 = 250.0;
const LEFT: f64 = 46.0;
const RIGHT: f64 = WIDTH - 12.0;
const TOP: f64 = 24.0;
const BOTTOM: f64 = HEIGHT - 40.0;
/// Points of a line; a longer series is joined into as many intervals.
const POINTS_MAX: usize = 80;

/// The course of one repeat.
pub(crate) struct Course {
    /// The subject's place among the labels.
    subject: usize,
    /// Middle of each interval in nanoseconds, and the rate in it.
    points: Vec<(f64, f64)>,
    end_ns: f64,
}

impl Course {
    /// The rate over time of a phase, in the unit of its headline; `None` where it has no series of
    /// two intervals.
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
}

/// Rates per interval. The last interval is divided by what the phase used of it; what is shorter
/// than a third of an interval is joined to the one before, since its rate would be chance.
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

/// Draws the courses; `None` where there is none.
pub(crate) fn series(
    names: &Names,
    metric: &MetricDefinition,
    subjects: &[Label],
    courses: &[Course],
) -> Option<String> {
    let high = courses
        .iter()
        .flat_map(|course| course.points.iter().map(|(_, rate)| *rate))
        .fold(0.0, f64::max);
    let end = courses
        .iter()
        .map(|course| course.end_ns)
        .fold(0.0, f64::max);
    if courses.is_empty() || end <= 0.0 {
        return None;
    }
    let (x, y) = (
        Scale::from_zero(end, LEFT, RIGHT),
        Scale::from_zero(high * 1.05, BOTTOM, TOP),
    );
    let mut svg = Svg::new(HEIGHT);
    axes(&mut svg, (x, end), (y, high), metric);
    for course in courses {
        let points: Vec<(f64, f64)> = course
            .points
            .iter()
            .map(|(ns, rate)| (x.at(*ns), y.at(*rate)))
            .collect();
        let look = subjects.get(course.subject)?.look;
        svg.open(look);
        svg.polyline("course", &points);
        if let Some(last) = points.last() {
            svg.mark("dot small", look, *last);
        }
        svg.close();
    }
    Some(svg.finish(names, &description(metric, subjects, courses)))
}

fn axes(svg: &mut Svg, (x, end): (Scale, f64), (y, high): (Scale, f64), metric: &MetricDefinition) {
    let unit = AxisUnit::of(metric, high);
    for tick in y.ticks(5) {
        svg.line("grid", (LEFT, y.at(tick)), (RIGHT, y.at(tick)));
        let label = unit.label(tick);
        svg.text("tick", Anchor::End, (LEFT - 5.0, y.at(tick) + 3.5), &label);
    }
    let time = AxisUnit::of(&ELAPSED, end);
    for tick in x.ticks(5) {
        let at = x.at(tick);
        svg.line("grid", (at, TOP), (at, BOTTOM));
        svg.text(
            "tick",
            Anchor::Middle,
            (at, BOTTOM + 14.0),
            &time.label(tick),
        );
    }
    svg.text("axis", Anchor::Start, (2.0, 12.0), &unit.name);
    let title = format!("{} since the phase began", time.name);
    svg.text("axis", Anchor::End, (RIGHT + 6.0, BOTTOM + 31.0), &title);
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
}
