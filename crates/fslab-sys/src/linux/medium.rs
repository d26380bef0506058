//! Whether the data of a file system or of a block device is in memory: what no dropping of caches
//! makes cold.

use std::fs;
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use super::backing::mount_of;
use super::{device_below, is_in_memory};
use crate::DeviceNumber;

/// Devices below devices that are followed, as images on images.
const DEPTH_MAX: u32 = 8;
/// `OVERLAYFS_SUPER_MAGIC`.
const OVERLAY: i128 = 0x794c_7630;
/// What follows the path of an image whose name was removed.
const DELETED: &str = " (deleted)";

/// What keeps the data of `path` in memory, such as "tmpfs at /dev/shm"; `None` if that is a disk,
/// or unknown. `path` is a block device, or a file or directory, of which the file system counts.
pub fn memory_below(path: &Path) -> io::Result<Option<String>> {
    below(path, DEPTH_MAX)
}

fn below(path: &Path, depth: u32) -> io::Result<Option<String>> {
    let Some(depth) = depth.checked_sub(1) else {
        return Ok(None);
    };
    // A device's own file is on devtmpfs, which is in memory.
    if fs::metadata(path)?.file_type().is_block_device() {
        return Ok(DeviceNumber::of(path)
            .ok()
            .and_then(|it| below_device(it, depth)));
    }
    if is_in_memory(path)? {
        let mount = mount_of(path);
        return Ok(Some(mount.map_or_else(
            || "a file system in memory".to_owned(),
            |mount| format!("{} at {}", mount.fs_type, mount.mount_point.display()),
        )));
    }
    if i128::from(rustix::fs::statfs(path)?.f_type) == OVERLAY {
        // New files are in the upper directory; it is not visible in a container.
        let upper = mount_of(path).and_then(|mount| upper_of(&mount.options));
        return match upper.filter(|upper| upper.exists()) {
            Some(upper) => below(&upper, depth),
            None => Ok(None),
        };
    }
    Ok(device_below(path).and_then(|device| below_device(device, depth)))
}

fn upper_of(options: &[String]) -> Option<PathBuf> {
    let mut upper = options.iter().filter_map(|it| it.strip_prefix("upperdir="));
    upper.next().map(PathBuf::from)
}

fn below_device(device: DeviceNumber, depth: u32) -> Option<String> {
    let depth = depth.checked_sub(1)?;
    let DeviceNumber { major, minor } = device;
    let mut place = fs::canonicalize(format!("/sys/dev/block/{major}:{minor}")).ok()?;
    if place.join("partition").exists() {
        place.pop();
    }
    let name = place.file_name()?.to_str()?.to_owned();
    if let Some(kind) = kind_in_memory(&name) {
        return Some(format!("{kind} {name}"));
    }
    if let Ok(image) = fs::read_to_string(place.join("loop/backing_file")) {
        let image = image.trim_end_matches('\n');
        let image = Path::new(image.strip_suffix(DELETED).unwrap_or(image));
        // Of a removed image the directory is known.
        let there = if image.exists() {
            Some(image)
        } else {
            image.parent()
        };
        return below(there?, depth).ok().flatten();
    }
    below_all(&place.join("slaves"), depth)
}

/// The driver of a device that is in memory, by the device's name.
fn kind_in_memory(name: &str) -> Option<&'static str> {
    let kinds = [
        ("ram", "the RAM disk"),
        ("zram", "the compressed RAM disk"),
        ("nullb", "the null device"),
    ];
    let is = |prefix: &str| {
        name.strip_prefix(prefix)
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    kinds
        .into_iter()
        .find(|(prefix, _)| is(prefix))
        .map(|(_, kind)| kind)
}

/// Of a device that is built on others (device mapper, RAID): what keeps all of them in memory.
fn below_all(slaves: &Path, depth: u32) -> Option<String> {
    let mut last = None;
    for slave in fs::read_dir(slaves).ok()? {
        let number = fs::read_to_string(slave.ok()?.path().join("dev")).ok()?;
        let (major, minor) = number.trim_end().split_once(':')?;
        let device = DeviceNumber {
            major: major.parse().ok()?,
            minor: minor.parse().ok()?,
        };
        last = Some(below_device(device, depth)?);
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LoopDevice;

    #[test]
    fn a_file_system_in_memory_is_named_with_its_mount_point() {
        let shared = Path::new("/dev/shm");
        if !is_in_memory(shared).is_ok_and(|it| it) {
            eprintln!("skipped: /dev/shm is no tmpfs");
            return;
        }
        let found = memory_below(shared).expect("there");
        assert_eq!(found.as_deref(), Some("tmpfs at /dev/shm"));
        assert_eq!(memory_below(Path::new("/proc")).expect("there"), None);
    }

    /// An image on tmpfs behind a loop device was "cold" at the speed of memory.
    #[test]
    fn a_loop_device_over_an_image_in_memory_is_in_memory_and_one_over_a_disk_is_not() {
        let shared = Path::new("/dev/shm");
        if !crate::is_superuser() || !is_in_memory(shared).is_ok_and(|it| it) {
            eprintln!("skipped: needs root, loop devices and a tmpfs in /dev/shm");
            return;
        }
        for folder in [shared, Path::new("/var/tmp")] {
            let image = folder.join(format!("fslab-medium-{}", std::process::id()));
            fs::write(&image, vec![0; 1 << 20]).expect("written");
            let attached = LoopDevice::attach(&image, 512);
            let removed = || fs::remove_file(&image).expect("removed");
            let Ok(device) = attached else {
                removed();
                eprintln!("skipped: no loop devices");
                return;
            };
            let expected = memory_below(folder).expect("there");
            assert_eq!(memory_below(device.path()).expect("there"), expected);
            removed();
            assert_eq!(memory_below(device.path()).expect("there"), expected);
        }
    }

    #[test]
    fn names_of_disks_are_not_those_of_memory() {
        for (name, is) in [
            ("ram0", true),
            ("zram12", true),
            ("nullb1", true),
            ("ramses", false),
            ("sda", false),
            ("nvme0n1", false),
        ] {
            assert_eq!(kind_in_memory(name).is_some(), is, "{name}");
        }
    }
}
