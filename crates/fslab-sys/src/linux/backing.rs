//! The device below a mounted file system, its requests in flight, and the kernel's readahead.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{major, minor};

use crate::{DeviceNumber, Mount, mounts};

/// Where sysfs has the backing device of each mount.
const BACKING: &str = "/sys/class/bdi";

/// The block device of the file system that holds `path`; `None` if there is none. For Btrfs on
/// several devices, the one in the mount table.
pub fn device_below(path: &Path) -> Option<DeviceNumber> {
    let holding = DeviceNumber::holding(path).ok()?;
    if holding.kernel_name().is_some() {
        return Some(holding);
    }
    // Btrfs subvolumes have anonymous device numbers; the mount's source names the device.
    DeviceNumber::of(Path::new(&mount_of(path)?.source)).ok()
}

/// Read and write requests in flight on `device`; `None` if it does not count them.
pub fn requests_in_flight(device: DeviceNumber) -> Option<u64> {
    let (major, minor) = (device.major, device.minor);
    let text = fs::read_to_string(format!("/sys/dev/block/{major}:{minor}/inflight")).ok()?;
    let counts = text.split_whitespace().map(str::parse::<u64>);
    counts.sum::<Result<u64, _>>().ok()
}

/// The mount that holds `path`: the longest matching mount point, and of several mounts on it the
/// last.
pub(super) fn mount_of(path: &Path) -> Option<Mount> {
    let path = path.canonicalize().ok()?;
    let above = |mount: &Mount| path.starts_with(&mount.mount_point);
    let mounts = mounts().ok()?.into_iter().filter(above);
    mounts.max_by_key(|mount| mount.mount_point.components().count())
}

/// The kernel's readahead for the file system of `path`, in KiB: `read_ahead_kb` of its backing
/// device.
///
/// # Errors
/// `NotFound` if the kernel does not show it; otherwise that of stat(2) or of reading sysfs.
pub fn read_ahead_kib(path: &Path) -> io::Result<u64> {
    let device = fs::metadata(path)?.dev();
    let number = format!("{}:{}", major(device), minor(device));
    let candidates = [
        number.clone(),
        format!("{number}-fuseblk"),
        format!("{number}-fuse"),
    ];
    let place = candidates
        .iter()
        .map(|name| Path::new(BACKING).join(name))
        .find(|place| place.exists())
        .or_else(|| backing_by_driver(path))
        .ok_or(io::ErrorKind::NotFound)?;
    let text = fs::read_to_string(place.join("read_ahead_kb"))?;
    text.trim().parse().map_err(io::Error::other)
}

/// For drivers that number their mounts (Btrfs: `btrfs-1`): the backing device, if there is only
/// one.
fn backing_by_driver(path: &Path) -> Option<PathBuf> {
    let driver = format!("{}-", mount_of(path)?.fs_type);
    let mut of_driver = fs::read_dir(BACKING)
        .ok()?
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(&driver))
        .map(|entry| entry.path());
    let only = of_driver.next();
    only.filter(|_| of_driver.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_system_without_a_device_has_none() {
        assert_eq!(device_below(Path::new("/proc")), None);
        assert_eq!(device_below(Path::new("/nonexistent")), None);
        let nobody = DeviceNumber { major: 0, minor: 0 };
        assert_eq!(requests_in_flight(nobody), None);
        assert!(read_ahead_kib(Path::new("/nonexistent")).is_err());
    }

    #[test]
    fn the_readahead_of_a_device_is_that_of_its_queue() {
        let path = std::env::temp_dir();
        let Some(name) = device_below(&path).and_then(DeviceNumber::kernel_name) else {
            eprintln!("skipped: {} is on no device", path.display());
            return;
        };
        let queue = format!("/sys/class/block/{name}/queue/read_ahead_kb");
        let (Ok(queue), Ok(found)) = (fs::read_to_string(queue), read_ahead_kib(&path)) else {
            eprintln!("skipped: {name} is a part of a device, or has no queue");
            return;
        };
        assert_eq!(queue.trim(), found.to_string());
    }
}
