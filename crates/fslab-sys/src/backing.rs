//! What is below a mounted file system: its device, and how far the kernel reads ahead for it.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{major, minor};

use crate::{DeviceNumber, Mount, mounts};

/// Where the kernel shows its settings of the device below each mount.
const BACKING: &str = "/sys/class/bdi";

/// The block device that holds the file system of `path`. Of a Btrfs with several devices it is the
/// one that was mounted; `None` where there is no device.
#[must_use]
pub fn device_below(path: &Path) -> Option<DeviceNumber> {
    let holding = DeviceNumber::holding(path).ok()?;
    if holding.kernel_name().is_some() {
        return Some(holding);
    }
    // Btrfs numbers its subvolumes itself; the mount's source names the device.
    DeviceNumber::of(Path::new(&mount_of(path)?.source)).ok()
}

/// Requests that `device` has been given and has not completed, reads and writes together; `None`
/// where it does not count them.
#[must_use]
pub fn requests_in_flight(device: DeviceNumber) -> Option<u64> {
    let (major, minor) = (device.major, device.minor);
    let text = fs::read_to_string(format!("/sys/dev/block/{major}:{minor}/inflight")).ok()?;
    let counts = text.split_whitespace().map(str::parse::<u64>);
    counts.sum::<Result<u64, _>>().ok()
}

/// The mount that `path` is on: of those whose place begins it the longest, and of several on one
/// place the last.
fn mount_of(path: &Path) -> Option<Mount> {
    let path = path.canonicalize().ok()?;
    let above = |mount: &Mount| path.starts_with(&mount.mount_point);
    let mounts = mounts().ok()?.into_iter().filter(above);
    mounts.max_by_key(|mount| mount.mount_point.components().count())
}

/// How far the kernel reads ahead in files of the file system of `path`, in KiB: `read_ahead_kb` of
/// what is below it.
///
/// # Errors
/// `NotFound` where the kernel does not know it; otherwise that of stat(2) or of reading sysfs.
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

/// A driver that numbers its mounts itself (Btrfs: `btrfs-1`), where it has no more than this one.
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
    fn what_has_no_device_below_it_has_none() {
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
            eprintln!("not run: {} is on no device", path.display());
            return;
        };
        let queue = format!("/sys/class/block/{name}/queue/read_ahead_kb");
        let (Ok(queue), Ok(found)) = (fs::read_to_string(queue), read_ahead_kib(&path)) else {
            eprintln!("not run: {name} is a part of a device, or has no queue");
            return;
        };
        assert_eq!(queue.trim(), found.to_string());
    }
}
