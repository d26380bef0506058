//! The latency of each percentile on two logarithmic axes, which give the tail as much space as the
//! middle.

use fslab_model::{LatencyHistogram, Unit, format_ns};

use super::axis::{Axis, TickUnit};
use super::drawing::Drawing;
use super::field::Field;
use super::outline::Zoom;
use super::scale::Scale;
use super::svg::{Anchor, Svg};
use super::{Label, WIDTH};

const HEIGHT: f64 = 250.0;
const LEFT: f64 = 54.0;
const TOP: f64 = 24.0;
const BOTTOM: f64 = HEIGHT - 40.0;
/// The place of 99.99 %; the maximum is right of it.
const RIGHT: f64 = WIDTH - 54.0;
const MAX_AT: f64 = WIDTH - 14.0;
/// Percentiles with a tick. From 90 on, each nine is one unit of the axis, as in plots of
/// HdrHistogram.
const TICKS: [(f64, &str); 6] = [
    (0.0, "0"),
    (50.0, "50"),
    (90.0, "90"),
    (99.0, "99"),
    (99.9, "99.9"),
    (99.99, "99.99"),
];
/// Steps of the curve between two ticks.
const STEPS: u32 = 12;

/// One subject's latencies over all repeats.
pub(crate) struct Curve<'a> {
    /// The subject.
    pub(crate) label: &'a Label,
    /// Its latencies; not empty.
    pub(crate) histogram: &'a LatencyHistogram,
}

/// Draws the curves; `None` if there are none.
pub(crate) fn latency(curves: &[Curve]) -> Option<Drawing> {
    let low = curves.iter().filter_map(|c| c.histogram.min_ns()).min()?;
    let high = curves.iter().filter_map(|c| c.histogram.max_ns()).max()?;
    let y = Scale::logarithmic(low as f64, high as f64, BOTTOM, TOP);
    let axis = Axis {
        scale: y,
        high: high as f64,
        ticks: 5,
        // Always logarithmic.
        linear_factor_max: 1.0,
        room: (1.0, 1.0),
        unit: TickUnit::Each(Unit::Nanoseconds),
        title: "latency · log axis · less is better".to_owned(),
    };
    let mut svg = Svg::new(HEIGHT);
    let mut field = Field::open(&mut svg, None, Some(axis));
    field.upwards((LEFT, WIDTH - 6.0));
    percentiles(field.svg);
    for curve in curves {
        let ends = curve.histogram.min_ns().zip(curve.histogram.max_ns());
        let zoom = ends.map_or(1.0, |(low, high)| y.zoom(low as f64, high as f64));
        field.svg.open(curve.label.look);
        field.curves("curve", &[points(curve.histogram)], Zoom(1.0, zoom));
        field.marks("dot", curve.label.look, &marks(curve.histogram));
        field.svg.close();
    }
    field.close();
    Some(svg.into_drawing(&description(curves)))
}

/// The horizontal axis.
fn percentiles(svg: &mut Svg) {
    let mut grid = Vec::new();
    for (percentile, label) in TICKS {
        let x = x_of(nines(percentile));
        grid.push(((x, TOP), (x, BOTTOM)));
        svg.text("tick", Anchor::Middle, (x, BOTTOM + 14.0), label);
    }
    grid.push(((MAX_AT, TOP), (MAX_AT, BOTTOM)));
    svg.lines("grid", &grid);
    svg.text("tick", Anchor::Middle, (MAX_AT - 2.0, BOTTOM + 14.0), "max");
    let end = (WIDTH - 6.0, BOTTOM + 31.0);
    svg.text(
        "axis",
        Anchor::End,
        end,
        "percentile of operations, % · log axis",
    );
}

/// The number of nines of a percentile: 2 for 99 %.
fn nines(percentile: f64) -> f64 {
    -(1.0 - percentile / 100.0).log10()
}

/// The pixel of a number of nines.
fn x_of(nines: f64) -> f64 {
    LEFT + 8.0 + nines / 4.0 * (RIGHT - LEFT - 8.0)
}

/// True if enough operations were counted for one in a tail of that many nines.
fn supports(histogram: &LatencyHistogram, nines: f64) -> bool {
    histogram.count() as f64 >= 10_f64.powf(nines)
}

/// Places across, and latencies.
fn points(histogram: &LatencyHistogram) -> Vec<(f64, f64)> {
    (0..=4 * STEPS)
        .map(|step| f64::from(step) / f64::from(STEPS))
        .take_while(|nines| supports(histogram, *nines))
        .filter_map(|nines| {
            let percentile = 100.0 * (1.0 - 10_f64.powf(-nines));
            let ns = histogram.percentile_ns(percentile)?;
            Some((x_of(nines), ns as f64))
        })
        .collect()
}

/// The subject's marks: at each percentile with a tick, and at the maximum.
fn marks(histogram: &LatencyHistogram) -> Vec<(f64, f64)> {
    let at = |percentile: f64| {
        // Slightly less, because the nines of 99.9 % compute to a little more than 3.
        let nines = nines(percentile);
        supports(histogram, nines - 1e-9)
            .then(|| histogram.percentile_ns(percentile))
            .flatten()
            .map(|ns| (x_of(nines), ns as f64))
    };
    let largest = histogram.max_ns().map(|ns| (MAX_AT, ns as f64));
    let percentiles = TICKS
        .into_iter()
        .filter_map(|(percentile, _)| at(percentile));
    percentiles.chain(largest).collect()
}

fn description(curves: &[Curve]) -> String {
    let line = |curve: &Curve| {
        let at = |percentile| {
            let ns = curve
                .histogram
                .percentile_ns(percentile)
                .unwrap_or_default();
            format_ns(ns as f64)
        };
        format!(
            "{}: median {}, 99th percentile {}, largest {}.",
            curve.label.name,
            at(50.0),
            at(99.0),
            at(100.0)
        )
    };
    curves.iter().map(line).collect::<Vec<_>>().join(" ")
}
