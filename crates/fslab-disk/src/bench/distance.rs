//! The time of an access against the distance from the one before: the arm's own curve.

use fslab_simdisk_sys::DiskOp;

use super::curve::{Axis, AxisUnit, Curve, CurvePoint, Line};
use super::load::{Desk, SECTOR};
use super::test::Setting;
use crate::profile::Medium;
use crate::{DiskError, Profile};
use fslab_stats::Random;

/// Distances, from the shortest to the whole disk.
const DISTANCES: u32 = 33;
/// Pairs of reads at each.
const PAIRS: u32 = 1_000;
const BYTES: u64 = 4096;
/// Longer than a disk reads ahead by itself.
const REST_NS: u64 = 1_000_000_000;

/// The curve; none where nothing moves, or several arms do.
pub(super) fn curve(profile: &Profile, setting: Setting) -> Result<Option<Curve>, DiskError> {
    let Medium::HardDisk(disk) = &profile.medium else {
        return Ok(None);
    };
    if profile.array.is_some() {
        return Ok(None);
    }
    let shortest = disk.track_bytes(disk.media.outer.0) * f64::from(disk.media.heads);
    let longest = profile.device.capacity.0 as f64;
    let (mut whole, mut seek) = (Vec::new(), Vec::new());
    for index in 0..DISTANCES {
        let share = f64::from(index) / f64::from(DISTANCES - 1);
        let distance = shortest * (longest / shortest).powf(share);
        let Some((whole_ns, seek_ns)) = mean(profile, setting, distance as u64)? else {
            continue;
        };
        let x = distance;
        whole.push(CurvePoint { x, y: whole_ns });
        seek.push(CurvePoint { x, y: seek_ns });
    }
    Ok(Some(Curve {
        name: "distance",
        title: "Time of an access against its distance",
        about: format!(
            "Two reads of 4 KiB, the second about that far before or behind the first; the mean of \
             {PAIRS} pairs. The seek is the arm's part of it, the rest is the turn of the platter."
        ),
        x: Axis {
            title: "distance",
            unit: AxisUnit::Place,
            logarithmic: true,
        },
        y: Axis {
            title: "second read",
            unit: AxisUnit::Nanoseconds,
            logarithmic: false,
        },
        lines: vec![
            Line {
                name: "access",
                points: whole,
            },
            Line {
                name: "seek",
                points: seek,
            },
        ],
    }))
}

/// The mean time of a read at `distance` behind another, and the arm's part of it.
fn mean(
    profile: &Profile,
    setting: Setting,
    distance: u64,
) -> Result<Option<(f64, f64)>, DiskError> {
    let mut desk = Desk::new(profile, DiskOp::Read)?;
    let mut random = Random::from_seed(setting.seed);
    let block = 4096 / SECTOR;
    let blocks = desk.sectors() / block;
    let (mut count, mut whole, mut seek) = (0_u32, 0_u64, 0_u64);
    for _ in 0..PAIRS {
        // Nearly that far: at one distance alone, sectors would always lie at one angle.
        let near = distance - distance / 10 + random.below(distance / 5);
        let step = (near / BYTES).min(blocks - 1);
        let low = random.below(blocks - step);
        let (first, second) = if random.coin() {
            (low, low + step)
        } else {
            (low + step, low)
        };
        desk.one(DiskOp::Read, first * block, BYTES);
        let ended = desk.one(DiskOp::Read, second * block, BYTES);
        if let Some(ended) = ended.filter(|ended| !ended.done.cached) {
            count += 1;
            whole += ended.ended_ns - ended.started_ns;
            seek += ended.done.parts.seek_ns;
        }
        // A turn and a bit, so that pairs begin at any angle.
        desk.rest(REST_NS + random.below(REST_NS));
    }
    let mean = |sum: u64| sum as f64 / f64::from(count.max(1));
    Ok((count > PAIRS / 4).then(|| (mean(whole), mean(seek))))
}
