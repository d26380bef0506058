//! Operations per second against the depth of the queue.

use fslab_simdisk_sys::DiskOp;

use super::curve::{Axis, AxisUnit, Curve, CurvePoint, Line};
use super::load::{Desk, Load, Place, Until};
use super::test::Setting;
use crate::{DiskError, Profile};
use fslab_stats::Random;

/// What is measured at each depth, at least.
const OPERATIONS: u64 = 2_000;
/// Before that, so that what writes leave behind is paid for.
const WARM_UP: u64 = 1_000;
const BYTES: u64 = 4096;

/// The curve; none where the disk takes one request at a time.
pub(super) fn curve(profile: &Profile, setting: Setting) -> Result<Option<Curve>, DiskError> {
    let depth_max = Desk::new(profile, DiskOp::Read)?.depth();
    if depth_max == 1 {
        return Ok(None);
    }
    let line = |name, op| -> Result<Line, DiskError> {
        let points = depths(depth_max).map(|depth| point(profile, setting, op, depth));
        Ok(Line {
            name,
            points: points.collect::<Result<_, _>>()?,
        })
    };
    Ok(Some(Curve {
        name: "queue-depth",
        title: "Random access against queue depth",
        about:
            "4 KiB anywhere on the disk, that many at a time; writes after the cache is full, or \
                after as many as it is worth to wait for."
                .to_owned(),
        x: Axis {
            title: "requests under way",
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
) -> Result<CurvePoint, DiskError> {
    let mut desk = Desk::new(profile, op)?;
    let mut load = Load {
        op,
        bytes: BYTES,
        depth,
        place: Place::Anywhere {
            span: desk.sectors(),
            random: Random::from_seed(setting.seed),
        },
    };
    let warm_up = match op {
        DiskOp::Write => setting.fill_operations(profile, BYTES),
        _ => WARM_UP.min(u64::from(depth)),
    };
    desk.run(&mut load, Until::operations(warm_up), |_| ());
    let measured = desk.run(
        &mut load,
        Until::operations(OPERATIONS.max(20 * u64::from(depth))),
        |_| (),
    );
    Ok(CurvePoint {
        x: f64::from(depth),
        y: measured.operations_per_s(),
    })
}
