//! Bandwidth and operations per second over the size of an operation.

use fslab_simdisk_sys::DiskOp;
use fslab_stats::Random;

use fslab_model::Failure;

use super::curve::{Axis, AxisUnit, Curve, CurvePoint, Line};
use super::load::{Addresses, Load, LoadRunner, Measured, RunLimit};
use super::setting::Setting;
use crate::Profile;

/// Powers of two: 512 B to 8 MiB.
const SIZES: std::ops::RangeInclusive<u32> = 9..=23;
/// Operations measured at each size, at most.
const OPERATIONS: u64 = 1_000;
/// Bytes measured at each size, at most.
const BYTES: u64 = 512 << 20;

/// Two curves: bandwidth and operations per second.
pub(super) fn curves(profile: &Profile, setting: Setting) -> Result<[Curve; 2], Failure> {
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
        merge_equal(lines, ("sequential read", "random read"), "read");
        merge_equal(lines, ("sequential write", "random write"), "write");
    }
    let about = "One operation at a time, from 512 B to 8 MiB, split into requests of the disk's \
                 largest size. Writes are measured once the cache is full, or after a limited \
                 number of them.";
    let curve = |name, title, y, unit, lines| Curve {
        name,
        title,
        about: about.to_owned(),
        x: Axis {
            title: "operation size",
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
            "Bandwidth by operation size",
            "bandwidth",
            AxisUnit::BytesPerSecond,
            rates,
        ),
        curve(
            "size-operations",
            "Operation rate by operation size",
            "operations",
            AxisUnit::OperationsPerSecond,
            operations,
        ),
    ])
}

/// Merges two equal lines: on most flash, random access is as fast as sequential.
fn merge_equal(lines: &mut Vec<Line>, (first, second): (&str, &str), name: &'static str) {
    let index = |wanted: &str| lines.iter().position(|line| line.name == wanted);
    let (Some(first), Some(second)) = (index(first), index(second)) else {
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
) -> Result<Measured, Failure> {
    let mut runner = LoadRunner::new(profile, op)?;
    let mut load = Load {
        op,
        bytes,
        depth: 1,
        addresses: if random {
            Addresses::Random {
                span: runner.sectors(),
                random: Random::from_seed(setting.seed),
            }
        } else {
            Addresses::Sequential { sector: 0 }
        },
    };
    if op == DiskOp::Write {
        let warm_up = setting.fill_operations(profile, bytes);
        runner.run(&mut load, RunLimit::operations(warm_up), |_| ());
    }
    let operations = OPERATIONS.min(BYTES / bytes);
    Ok(runner.run(&mut load, RunLimit::operations(operations), |_| ()))
}
