//! Random operations per second over queue depth.

use fslab_simdisk_sys::DiskOp;
use fslab_stats::Random;

use fslab_model::Failure;

use super::curve::{Axis, AxisUnit, Curve, CurvePoint, Line};
use super::load::{Addresses, Load, LoadRunner, RunLimit};
use super::setting::Setting;
use crate::Profile;

/// Operations measured at each depth, at least.
const OPERATIONS: u64 = 2_000;
/// Reads before the measurement, at most.
const WARM_UP: u64 = 1_000;
const BYTES: u64 = 4096;

/// The curve; `None` for a disk of queue depth 1.
pub(super) fn curve(profile: &Profile, setting: Setting) -> Result<Option<Curve>, Failure> {
    let depth_max = LoadRunner::new(profile, DiskOp::Read)?.depth();
    if depth_max == 1 {
        return Ok(None);
    }
    let line = |name, op| -> Result<Line, Failure> {
        let points = depths(depth_max).map(|depth| point(profile, setting, op, depth));
        Ok(Line {
            name,
            points: points.collect::<Result<_, _>>()?,
        })
    };
    Ok(Some(Curve {
        name: "queue-depth",
        title: "Random access by queue depth",
        about:
            "4 KiB at random offsets, with that many requests in flight. Writes are measured once \
                the cache is full, or after a limited number of them."
                .to_owned(),
        x: Axis {
            title: "queue depth",
            unit: AxisUnit::Count,
            logarithmic: true,
        },
        y: Axis {
            title: "random access",
            unit: AxisUnit::OperationsPerSecond,
            logarithmic: true,
        },
        lines: vec![line("read", DiskOp::Read)?, line("write", DiskOp::Write)?],
    }))
}

/// Powers of two up to `most`, and `most`.
fn depths(most: u32) -> impl Iterator<Item = u32> {
    let powers = (0..32).map(|power| 1_u32 << power);
    powers
        .take_while(move |depth| *depth < most)
        .chain(std::iter::once(most))
}

fn point(
    profile: &Profile,
    setting: Setting,
    op: DiskOp,
    depth: u32,
) -> Result<CurvePoint, Failure> {
    let mut runner = LoadRunner::new(profile, op)?;
    let mut load = Load {
        op,
        bytes: BYTES,
        depth,
        addresses: Addresses::Random {
            span: runner.sectors(),
            random: Random::from_seed(setting.seed),
        },
    };
    let warm_up = match op {
        DiskOp::Write => setting.fill_operations(profile, BYTES),
        _ => WARM_UP.min(u64::from(depth)),
    };
    runner.run(&mut load, RunLimit::operations(warm_up), |_| ());
    let measured = runner.run(
        &mut load,
        RunLimit::operations(OPERATIONS.max(20 * u64::from(depth))),
        |_| (),
    );
    Ok(CurvePoint {
        x: f64::from(depth),
        y: measured.operations_per_s(),
    })
}
