//! Bandwidth and operations per second against the size of an operation.

use fslab_simdisk_sys::DiskOp;

use super::curve::{Axis, AxisUnit, Curve, CurvePoint, Line};
use super::load::{Desk, Load, Measured, Place, Until};
use super::test::Setting;
use crate::{DiskError, Profile};
use fslab_stats::Random;

/// From 512 B to 8 MiB.
const SIZES: std::ops::RangeInclusive<u32> = 9..=23;
/// What is measured at each size, at most.
const OPERATIONS: u64 = 1_000;
/// What is read or written at each size, where that is fewer operations.
const BYTES: u64 = 512 << 20;

/// Both curves: the rate, and the operations.
pub(super) fn curves(profile: &Profile, setting: Setting) -> Result<[Curve; 2], DiskError> {
    let kinds = [
        ("sequential read", DiskOp::Read, false),
        ("sequential write", DiskOp::Write, false),
        ("random read", DiskOp::Read, true),
        ("random write", DiskOp::Write, true),
    ];
    let (mut rates, mut operations) = (Vec::new(), Vec::new());
    for (name, op, random) in kinds {
        let (mut rate, mut operation) = (Vec::new(), Vec::new());
        for size in SIZES.map(|power| 1_u64 << power) {
            let measured = measure(profile, setting, (op, random), size)?;
            let x = size as f64;
            let (y, count) = (measured.bytes_per_s(), measured.operations_per_s());
            rate.push(CurvePoint { x, y });
            operation.push(CurvePoint { x, y: count });
        }
        rates.push(Line { name, points: rate });
        operations.push(Line {
            name,
            points: operation,
        });
    }
    for lines in [&mut rates, &mut operations] {
        join(lines, ("sequential read", "random read"), "read");
        join(lines, ("sequential write", "random write"), "write");
    }
    let about = "One operation at a time, from 512 B to 8 MiB; a large one goes to the disk in \
                 requests of its largest size. Writes after the cache is full, or after as many as \
                 it is worth to wait for.";
    let curve = |name, title, y, unit, lines| Curve {
        name,
        title,
        about: about.to_owned(),
        x: Axis {
            title: "size of an operation",
            unit: AxisUnit::Bytes,
            logarithmic: true,
        },
        y: Axis {
            title: y,
            unit,
            logarithmic: true,
        },
        lines,
    };
    Ok([
        curve(
            "size-rate",
            "Bandwidth against the size of an operation",
            "bandwidth",
            AxisUnit::BytesPerSecond,
            rates,
        ),
        curve(
            "size-operations",
            "Operations against their size",
            "operations",
            AxisUnit::OperationsPerSecond,
            operations,
        ),
    ])
}

/// Two lines that lie on each other are one: to most flash, order means nothing.
fn join(lines: &mut Vec<Line>, (first, second): (&str, &str), name: &'static str) {
    let place = |wanted: &str| lines.iter().position(|line| line.name == wanted);
    let (Some(first), Some(second)) = (place(first), place(second)) else {
        return;
    };
    if lines[first].points == lines[second].points {
        lines[first].name = name;
        lines.remove(second);
    }
}

fn measure(
    profile: &Profile,
    setting: Setting,
    (op, random): (DiskOp, bool),
    bytes: u64,
) -> Result<Measured, DiskError> {
    let mut desk = Desk::new(profile, op)?;
    let mut load = Load {
        op,
        bytes,
        depth: 1,
        place: if random {
            Place::Anywhere {
                span: desk.sectors(),
                random: Random::from_seed(setting.seed),
            }
        } else {
            Place::Onwards { sector: 0 }
        },
    };
    if op == DiskOp::Write {
        let warm_up = setting.fill_operations(profile, bytes);
        desk.run(&mut load, Until::operations(warm_up), |_| ());
    }
    let operations = OPERATIONS.min(BYTES / bytes);
    Ok(desk.run(&mut load, Until::operations(operations), |_| ()))
}
