//! The identity of the device that a path refers to: properties that reveal another device.

use std::fs::{File, OpenOptions, read_to_string};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{OFlags, major, minor};

use super::status::check;

/// `_IOR(0x12, 128, __u64)`: a disk's sequence number, which the kernel never reuses (Linux 5.15).
const BLKGETDISKSEQ: libc::c_ulong = 0x8008_1280;
/// `_IOR(0x12, 114, size_t)`.
const BLKGETSIZE64: libc::c_ulong = 0x8008_1272;

/// Files below the disk's directory in sysfs that identify it: of its maker, of device mapper and
/// RAID.
const OF_DISK: [(&str, &str); 8] = [
    ("wwid", "wwid"),
    ("wwid", "device/wwid"),
    ("serial", "serial"),
    ("serial", "device/serial"),
    ("model", "device/model"),
    ("mapping", "dm/uuid"),
    ("array", "md/uuid"),
    ("card", "device/cid"),
];

/// Opens the block device at `path` for inspection: no data is read, and no lock is taken.
///
/// # Errors
/// That of open(2); `InvalidInput` if it is no block device.
pub fn open_block_device(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(OFlags::NONBLOCK.bits().cast_signed())
        .open(path)?;
    if file.metadata()?.file_type().is_block_device() {
        Ok(file)
    } else {
        let text = "not a block device";
        Err(io::Error::new(io::ErrorKind::InvalidInput, text))
    }
}

/// The identifying properties of an open block device, by name, as far as the kernel and the device
/// have them. Two devices that had the same path differ in at least one; one device always gives
/// the same until the next boot.
pub fn device_identity(device: &File) -> io::Result<Vec<(&'static str, String)>> {
    let number = device.metadata()?.rdev();
    let number = format!("{}:{}", major(number), minor(number));
    let folder = PathBuf::from(format!("/sys/dev/block/{number}"));
    let mut found = vec![("number", number)];
    let size_bytes = ask_number(device, BLKGETSIZE64)?;
    found.push(("size_bytes", size_bytes.to_string()));
    let sequence = ask_number(device, BLKGETDISKSEQ).ok();
    found.extend(sequence.map(|sequence| ("sequence", sequence.to_string())));
    let mut add = |name: &'static str, place: PathBuf| {
        let text = line_of(&place)?;
        let is_known = found.iter().any(|(known, _)| *known == name);
        (!is_known).then(|| found.push((name, text)))
    };
    let is_part = folder.join("partition").exists();
    if is_part {
        add("partition", folder.join("partition"));
        add("partition_start", folder.join("start"));
    }
    let disk = if is_part {
        folder.join("..")
    } else {
        folder.clone()
    };
    for (name, place) in OF_DISK {
        add(name, disk.join(place));
    }
    add("file", folder.join("loop/backing_file"));
    add("offset", folder.join("loop/offset"));
    let uuid = is_part.then(|| partition_uuid(&folder)).flatten();
    found.extend(uuid.map(|uuid| ("partition_uuid", uuid)));
    let file = super::loop_device::file_behind(device);
    found.extend(file.map(|file| ("file_id", file.to_string())));
    Ok(found)
}

fn line_of(place: &Path) -> Option<String> {
    let text = read_to_string(place).ok()?;
    let text: String = text.trim().chars().filter(|c| !c.is_control()).collect();
    (!text.is_empty()).then_some(text)
}

/// The partition's UUID as the kernel shows it (Linux 6.10), independent of udev.
fn partition_uuid(folder: &Path) -> Option<String> {
    let text = read_to_string(folder.join("uevent")).ok()?;
    let mut lines = text.lines();
    lines.find_map(|line| Some(line.strip_prefix("PARTUUID=")?.to_owned()))
}

fn ask_number(device: &File, request: libc::c_ulong) -> io::Result<u64> {
    let mut number = 0_u64;
    // SAFETY: both requests write one 64-bit number, which outlives the call.
    let result = unsafe { libc::ioctl(device.as_raw_fd(), request, &raw mut number) };
    check(result).map(|()| number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_regular_file_is_no_block_device() {
        for path in ["/proc/version", "/dev/null"] {
            let error = open_block_device(Path::new(path)).expect_err("no device");
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
        }
    }
}
