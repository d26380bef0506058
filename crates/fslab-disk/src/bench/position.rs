//! Sequential read rate over the position on the disk.

use fslab_simdisk_sys::DiskOp;

use fslab_model::Failure;

use super::curve::{Axis, AxisUnit, Curve, CurvePoint, Line};
use super::load::{Addresses, Load, LoadRunner, RunLimit, SECTOR};
use super::setting::{SEQUENTIAL_WARM_UP, Setting};
use crate::Profile;
use crate::profile::Medium;

/// Positions on a hard disk, whose zones differ in rate.
const HARD_DISK_POSITIONS: u64 = 65;
/// Positions on flash, whose rate is uniform.
const FLASH_POSITIONS: u64 = 9;

pub(super) fn curve(profile: &Profile, setting: Setting) -> Result<Curve, Failure> {
    let bytes = profile.device.max_request.0;
    let total = setting.sequential_bytes(profile);
    let positions = match profile.medium {
        Medium::HardDisk(_) => HARD_DISK_POSITIONS,
        Medium::Flash(_) => FLASH_POSITIONS,
    };
    let mut points = Vec::new();
    for index in 0..positions {
        let mut runner = LoadRunner::new(profile, DiskOp::Read)?;
        let last = runner
            .sectors()
            .saturating_sub((total + SEQUENTIAL_WARM_UP * bytes) / SECTOR);
        let sector = u128::from(last) * u128::from(index) / u128::from(positions - 1);
        let sector = u64::try_from(sector).expect("it lies on the disk");
        // Aligned to physical blocks of 4 KiB.
        let sector = sector - sector % 8;
        let mut load = Load {
            op: DiskOp::Read,
            bytes,
            depth: setting.sequential_depth(&runner),
            addresses: Addresses::Sequential { sector },
        };
        runner.run(&mut load, RunLimit::operations(SEQUENTIAL_WARM_UP), |_| ());
        let measured = runner.run(&mut load, RunLimit::operations(total / bytes), |_| ());
        points.push(CurvePoint {
            x: (sector * SECTOR) as f64,
            y: measured.bytes_per_s(),
        });
    }
    Ok(Curve {
        name: "position",
        title: "Sequential read rate by position",
        about: format!(
            "Sequential requests of {} from each of {positions} positions.",
            profile.device.max_request
        ),
        x: Axis {
            title: "position on the disk",
            unit: AxisUnit::Place,
            logarithmic: false,
        },
        y: Axis {
            title: "sequential read",
            unit: AxisUnit::BytesPerSecond,
            logarithmic: false,
        },
        lines: vec![Line {
            name: "read",
            points,
        }],
    })
}
