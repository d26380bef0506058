//! A long burst of random writes over time: the write cache fills, and then the medium sets the
//! pace.

use fslab_simdisk_sys::DiskOp;

use super::curve::{Axis, AxisUnit, Curve, CurvePoint, Line};
use super::load::{Desk, Load, Place, Until};
use super::test::Setting;
use crate::{DiskError, Profile};
use fslab_stats::Random;

const BYTES: u64 = 4096;
/// The first moment that is shown.
const FIRST_NS: f64 = 1e5;
/// The last, unless so much is written before.
const LAST_NS: u64 = 120_000_000_000;
const OPERATIONS_MAX: u64 = 400_000;
/// Moments for each factor of ten in time.
const STEPS: f64 = 10.0;

/// The curve.
pub(super) fn curve(profile: &Profile, setting: Setting) -> Result<Curve, DiskError> {
    let mut desk = Desk::new(profile, DiskOp::Write)?;
    let mut load = Load {
        op: DiskOp::Write,
        bytes: BYTES,
        depth: desk.depth(),
        place: Place::Anywhere {
            span: desk.sectors(),
            random: Random::from_seed(setting.seed),
        },
    };
    let until = Until {
        operations: OPERATIONS_MAX,
        elapsed_ns: LAST_NS,
    };
    let mut ends = Vec::new();
    desk.run(&mut load, until, |ended| ends.push(ended.ended_ns));
    Ok(Curve {
        name: "burst",
        title: "A burst of random writes over time",
        about:
            "4 KiB anywhere on the disk, as many at a time as it takes, from rest on. Both axes \
                go by factors: first the cache takes what comes, then the medium sets the pace."
                .to_owned(),
        x: Axis {
            title: "since the burst began",
            unit: AxisUnit::Nanoseconds,
            logarithmic: true,
        },
        y: Axis {
            title: "random writes",
            unit: AxisUnit::OperationsPerSecond,
            logarithmic: true,
        },
        lines: vec![Line {
            name: "write",
            points: rates(&ends, u64::from(load.depth)),
        }],
    })
}

/// The rate in intervals of equal factors. One in which less ended than the queue holds is joined
/// to the next: what begins together ends together.
fn rates(ends: &[u64], depth: u64) -> Vec<CurvePoint> {
    let least = depth.max(5);
    let mut points = Vec::new();
    let (mut from, mut count) = (0.0, 0);
    let mut edge = FIRST_NS;
    let factor = 10_f64.powf(1.0 / STEPS);
    let mut ends = ends.iter().map(|end| *end as f64).peekable();
    while ends.peek().is_some() {
        while ends.next_if(|end| *end <= edge).is_some() {
            count += 1;
        }
        // What is left behind the last edge is no whole interval.
        if count >= least && ends.peek().is_some() {
            let middle = if from > 0.0 {
                (from * edge).sqrt()
            } else {
                edge / 2.0
            };
            points.push(CurvePoint {
                x: middle,
                y: count as f64 * 1e9 / (edge - from),
            });
            (from, count) = (edge, 0);
        }
        edge *= factor;
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_steady_stream_has_a_steady_rate() {
        let ends: Vec<_> = (1..100_000).map(|count| count * 10_000).collect();
        let points = rates(&ends, 1);
        assert!(points.len() > 20, "{}", points.len());
        for point in &points {
            assert!((point.y - 1e5).abs() < 2e4, "{point:?}");
        }
        let late = points.last().expect("a point");
        assert!((late.y - 1e5).abs() < 1e2, "{late:?}");
    }

    #[test]
    fn a_pause_is_no_point_of_zero() {
        let points = rates(&[1, 2, 3, 4, 5, 6, 900_000_000, 900_000_001], 1);
        assert_eq!(points.len(), 1);
    }
}
