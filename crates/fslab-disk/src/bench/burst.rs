//! Rate of a long burst of random writes over time: fast until the write cache is full, then as
//! fast as the medium.

use fslab_simdisk_sys::DiskOp;
use fslab_stats::Random;

use fslab_model::Failure;

use super::curve::{Axis, AxisUnit, Curve, CurvePoint, Line};
use super::load::{Addresses, Load, LoadRunner, RunLimit};
use super::setting::Setting;
use crate::Profile;

const BYTES: u64 = 4096;
/// End of the first interval.
const FIRST_NS: f64 = 1e5;
/// Length of the burst, unless the operations run out first.
const LAST_NS: u64 = 120_000_000_000;
const OPERATIONS_MAX: u64 = 400_000;
/// Intervals per factor of ten in time.
const INTERVALS_PER_DECADE: f64 = 10.0;

pub(super) fn curve(profile: &Profile, setting: Setting) -> Result<Curve, Failure> {
    let mut runner = LoadRunner::new(profile, DiskOp::Write)?;
    let mut load = Load {
        op: DiskOp::Write,
        bytes: BYTES,
        depth: runner.depth(),
        addresses: Addresses::Random {
            span: runner.sectors(),
            random: Random::from_seed(setting.seed),
        },
    };
    let limit = RunLimit {
        operations: OPERATIONS_MAX,
        elapsed_ns: LAST_NS,
    };
    let mut ends = Vec::new();
    runner.run(&mut load, limit, |done| ends.push(done.ended_ns));
    Ok(Curve {
        name: "burst",
        title: "A burst of random writes over time",
        about:
            "4 KiB at random offsets at the disk's queue depth, on an idle disk. The cache takes \
                the first writes; after that the medium limits the rate. Both axes are logarithmic."
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

/// The rate in intervals that grow by a constant factor. An interval in which fewer operations
/// completed than the queue holds is joined to the next, since queued operations complete in
/// groups.
fn rates(ends: &[u64], depth: u64) -> Vec<CurvePoint> {
    let least = depth.max(5);
    let mut points = Vec::new();
    let (mut from, mut count) = (0.0, 0);
    let mut edge = FIRST_NS;
    let factor = 10_f64.powf(1.0 / INTERVALS_PER_DECADE);
    let mut ends = ends.iter().map(|end| *end as f64).peekable();
    while ends.peek().is_some() {
        while ends.next_if(|end| *end <= edge).is_some() {
            count += 1;
        }
        // The last interval is incomplete and is dropped.
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
    fn a_pause_adds_no_point() {
        let points = rates(&[1, 2, 3, 4, 5, 6, 900_000_000, 900_000_001], 1);
        assert_eq!(points.len(), 1);
    }
}
