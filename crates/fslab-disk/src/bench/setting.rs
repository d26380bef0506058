//! The disk that is measured, and how.

use super::load::LoadRunner;
use crate::Profile;
use crate::profile::Medium;

/// The seed of every benchmark, so that figures are comparable.
pub const SEED: u64 = 0x5eed;

/// Bytes of a sequential measurement, at least.
const SEQUENTIAL_BYTES: u64 = 32 << 20;

/// Queue depth of a sequential measurement, at most.
const SEQUENTIAL_DEPTH: u32 = 8;

/// Requests before a sequential measurement, so that the first seek does not count.
pub(super) const SEQUENTIAL_WARM_UP: u64 = 16;

/// Operations to fill a write cache, at most.
const FILL_OPERATIONS_MAX: u64 = 400_000;

/// Settings of all measurements.
#[derive(Clone, Copy, Debug)]
pub(super) struct Setting {
    pub(super) seed: u64,
}

impl Setting {
    /// Operations of that size that fill the write cache: 5/4 of its size, within limits.
    pub(super) fn fill_operations(self, profile: &Profile, bytes: u64) -> u64 {
        let cache = match &profile.medium {
            _ if !profile.cache.write_cache => 0,
            Medium::HardDisk(disk) => disk.write_back.share.0,
            Medium::Flash(_) => profile.cache.buffer.0,
        };
        let members = profile.array.as_ref().map_or(1, |array| array.members);
        (cache * 5 / 4 * u64::from(members) / bytes).clamp(16, FILL_OPERATIONS_MAX)
    }

    /// Bytes of a sequential measurement: several cylinders, and many requests.
    pub(super) fn sequential_bytes(self, profile: &Profile) -> u64 {
        let request = profile.device.max_request.0;
        let wanted = match &profile.medium {
            Medium::HardDisk(disk) => {
                let track = disk.track_bytes(disk.media.outer.0) as u64;
                SEQUENTIAL_BYTES.max(4 * u64::from(disk.media.heads) * track)
            }
            Medium::Flash(_) => SEQUENTIAL_BYTES.max(256 * request),
        };
        let wanted = wanted.min(profile.device.capacity.0 / 8).max(request);
        wanted - wanted % request
    }

    /// Queue depth of a sequential measurement.
    pub(super) fn sequential_depth(self, runner: &LoadRunner) -> u32 {
        runner.depth().min(SEQUENTIAL_DEPTH)
    }
}
