//! Access time over the distance from the previous access, which shows the seek curve.

use fslab_simdisk_sys::DiskOp;
use fslab_stats::Random;

use fslab_model::Failure;

use super::curve::{Axis, AxisUnit, Curve, CurvePoint, Line};
use super::load::{LoadRunner, SECTOR};
use super::setting::Setting;
use crate::Profile;
use crate::profile::Medium;

/// Number of distances, from one cylinder to the entire disk.
const DISTANCES: u32 = 33;
/// Pairs of reads at each distance.
const PAIRS: u32 = 1_000;
const BYTES: u64 = 4096;
/// Pause after a pair, longer than a disk reads ahead.
const REST_NS: u64 = 1_000_000_000;

/// The curve; `None` for flash and for arrays.
pub(super) fn curve(profile: &Profile, setting: Setting) -> Result<Option<Curve>, Failure> {
    let Medium::HardDisk(disk) = &profile.medium else {
        return Ok(None);
    };
    if profile.array.is_some() {
        return Ok(None);
    }
    let shortest = disk.track_bytes(disk.media.outer.0) * f64::from(disk.media.heads);
    let longest = profile.device.capacity.0 as f64;
    let (mut access, mut seek) = (Vec::new(), Vec::new());
    for index in 0..DISTANCES {
        let share = f64::from(index) / f64::from(DISTANCES - 1);
        let distance = shortest * (longest / shortest).powf(share);
        let Some((access_ns, seek_ns)) = mean(profile, setting, distance as u64)? else {
            continue;
        };
        let x = distance;
        access.push(CurvePoint { x, y: access_ns });
        seek.push(CurvePoint { x, y: seek_ns });
    }
    Ok(Some(Curve {
        name: "distance",
        title: "Access time by distance",
        about: format!(
            "Two reads of 4 KiB, the second about that far before or after the first; the mean of \
             {PAIRS} pairs. The seek is the arm's part of the time, the rest mostly rotation."
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
                points: access,
            },
            Line {
                name: "seek",
                points: seek,
            },
        ],
    }))
}

/// The mean time of a read at `distance` from the previous one, and the seek time in it; `None` if
/// most reads were answered by the cache.
fn mean(profile: &Profile, setting: Setting, distance: u64) -> Result<Option<(f64, f64)>, Failure> {
    let mut runner = LoadRunner::new(profile, DiskOp::Read)?;
    let mut random = Random::from_seed(setting.seed);
    let block = 4096 / SECTOR;
    let blocks = runner.sectors() / block;
    let (mut count, mut access_ns, mut seek_ns) = (0_u32, 0_u64, 0_u64);
    for _ in 0..PAIRS {
        // Within 10 % of the distance: at exactly one, the two sectors would always have one angle.
        let near = distance - distance / 10 + random.below(distance / 5);
        let step = (near / BYTES).min(blocks - 1);
        let low = random.below(blocks - step);
        let (first, second) = if random.coin() {
            (low, low + step)
        } else {
            (low + step, low)
        };
        runner.run_one(DiskOp::Read, first * block, BYTES);
        let completion = runner.run_one(DiskOp::Read, second * block, BYTES);
        if let Some(completion) = completion.filter(|completion| !completion.done.cached) {
            count += 1;
            access_ns += completion.ended_ns - completion.started_ns;
            seek_ns += completion.done.parts.seek_ns;
        }
        // A random pause, so that pairs begin at any angle.
        runner.idle(REST_NS + random.below(REST_NS));
    }
    let mean = |sum: u64| sum as f64 / f64::from(count.max(1));
    Ok((count > PAIRS / 4).then(|| (mean(access_ns), mean(seek_ns))))
}
