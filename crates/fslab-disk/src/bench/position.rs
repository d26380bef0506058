//! The rate of sequential reading against the place on the disk.

use fslab_simdisk_sys::DiskOp;

use super::curve::{Axis, AxisUnit, Curve, CurvePoint, Line};
use super::load::{Desk, Load, Place, SECTOR, Until};
use super::test::{START, Setting};
use crate::profile::Medium;
use crate::{DiskError, Profile};

/// Places on platters, whose zones differ, and on flash, which is everywhere the same.
const PLACES: (u64, u64) = (65, 9);

/// The curve.
pub(super) fn curve(profile: &Profile, setting: Setting) -> Result<Curve, DiskError> {
    let bytes = profile.device.max_request.0;
    let total = setting.stretch_bytes(profile);
    let places = match profile.medium {
        Medium::HardDisk(_) => PLACES.0,
        Medium::Flash(_) => PLACES.1,
    };
    let mut points = Vec::new();
    for index in 0..places {
        let mut desk = Desk::new(profile, DiskOp::Read)?;
        let last = desk
            .sectors()
            .saturating_sub((total + START * bytes) / SECTOR);
        let sector = u128::from(last) * u128::from(index) / u128::from(places - 1);
        let sector = u64::try_from(sector).expect("it lies on the disk");
        // Whole physical blocks.
        let sector = sector - sector % 8;
        let mut load = Load {
            op: DiskOp::Read,
            bytes,
            depth: setting.streaming_depth(&desk),
            place: Place::Onwards { sector },
        };
        desk.run(&mut load, Until::operations(START), |_| ());
        let measured = desk.run(&mut load, Until::operations(total / bytes), |_| ());
        points.push(CurvePoint {
            x: (sector * SECTOR) as f64,
            y: measured.bytes_per_s(),
        });
    }
    Ok(Curve {
        name: "position",
        title: "Sequential reading against the place on the disk",
        about: format!(
            "Requests of {}, one behind the other, from {places} places on.",
            profile.device.max_request
        ),
        x: Axis {
            title: "place on the disk",
            unit: AxisUnit::Place,
            logarithmic: false,
        },
        y: Axis {
            title: "sequential reading",
            unit: AxisUnit::BytesPerSecond,
            logarithmic: false,
        },
        lines: vec![Line {
            name: "read",
            points,
        }],
    })
}
