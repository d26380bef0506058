//! Block devices as sysfs shows them: identity, size, users, counters.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{OFlags, major, minor};

/// Bytes in a sector of sysfs, whatever the device's own sectors are.
const SECTOR_BYTES: u64 = 512;

/// The number of a block device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DeviceNumber {
    /// Which driver.
    pub major: u32,
    /// Which of its devices.
    pub minor: u32,
}

/// Counters of a block device since it came up, from `/sys/dev/block/MAJOR:MINOR/stat`.
///
/// Fields that older kernels lack are `None`. See the kernel's Documentation/block/stat.rst.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlockCounters {
    /// Read requests completed.
    pub reads: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Write requests completed.
    pub writes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Milliseconds in which at least one request was under way.
    pub busy_ms: u64,
    /// Discard requests completed (4.18).
    pub discards: Option<u64>,
    /// Bytes discarded.
    pub discard_bytes: Option<u64>,
    /// Flush requests completed (5.5).
    pub flushes: Option<u64>,
}

/// Why a device may not be formatted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InUse {
    /// It, or a partition of it, is mounted.
    #[error("it is mounted on {0}")]
    Mounted(PathBuf),
    /// Another device is built on it: RAID, LVM, encryption, a multipath.
    #[error("it is part of {0}")]
    Held(String),
    /// It cannot be written to.
    #[error("it is read-only")]
    ReadOnly,
    /// Swap space.
    #[error("it is in use as swap space")]
    Swap,
    /// It has partitions.
    #[error("it has the partition {0}")]
    Partitioned(String),
    /// The kernel says that somebody has claimed it.
    #[error("another program or the kernel has claimed it")]
    Claimed,
}

impl DeviceNumber {
    /// The number of the block device at `path`.
    ///
    /// # Errors
    /// That of stat(2); `InvalidInput` where `path` is no block device.
    pub fn of(path: &Path) -> io::Result<Self> {
        let metadata = std::fs::metadata(path)?;
        if !metadata.file_type().is_block_device() {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "not a block device",
            ));
        }
        Ok(Self {
            major: major(metadata.rdev()),
            minor: minor(metadata.rdev()),
        })
    }

    /// The number of the device that holds the file system of `path`.
    ///
    /// File systems with several devices or none (Btrfs, tmpfs, overlay) answer with a number of
    /// major 0, behind which is no device.
    ///
    /// # Errors
    /// That of stat(2).
    pub fn holding(path: &Path) -> io::Result<Self> {
        let device = std::fs::metadata(path)?.dev();
        Ok(Self {
            major: major(device),
            minor: minor(device),
        })
    }

    fn sysfs(self) -> PathBuf {
        PathBuf::from(format!("/sys/dev/block/{}:{}", self.major, self.minor))
    }

    /// The device's name in the kernel, `sda1` or `loop3`; `None` where there is no such device.
    #[must_use]
    pub fn kernel_name(self) -> Option<String> {
        let target = std::fs::read_link(self.sysfs()).ok()?;
        Some(target.file_name()?.to_string_lossy().into_owned())
    }

    /// Size in bytes.
    ///
    /// # Errors
    /// That of reading sysfs.
    pub fn size_bytes(self) -> io::Result<u64> {
        let text = std::fs::read_to_string(self.sysfs().join("size"))?;
        let sectors: u64 = text.trim().parse().map_err(io::Error::other)?;
        Ok(sectors * SECTOR_BYTES)
    }

    /// The counters now.
    ///
    /// # Errors
    /// That of reading sysfs; `InvalidData` where the line is not what the kernel documents.
    pub fn counters(self) -> io::Result<BlockCounters> {
        let text = std::fs::read_to_string(self.sysfs().join("stat"))?;
        parse_counters(&text)
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "unknown form of stat"))
    }

    /// What uses the device or a part of it; `None` where nothing does.
    ///
    /// # Errors
    /// That of reading /proc or sysfs.
    pub fn in_use(self, path: &Path) -> io::Result<Option<InUse>> {
        for mount in crate::mounts()? {
            let same = mount.device_number == format!("{}:{}", self.major, self.minor);
            // Btrfs and others show a device number of their own: compare the source as well.
            let named = DeviceNumber::of(Path::new(&mount.source)).is_ok_and(|it| it == self);
            if same || named {
                return Ok(Some(InUse::Mounted(mount.mount_point)));
            }
        }
        if let Some(holder) = first_entry(&self.sysfs().join("holders"), |_| true) {
            return Ok(Some(InUse::Held(holder)));
        }
        if let Some(name) = self.loop_device_above() {
            return Ok(Some(InUse::Held(name)));
        }
        if std::fs::read_to_string(self.sysfs().join("ro")).is_ok_and(|flag| flag.trim() == "1") {
            return Ok(Some(InUse::ReadOnly));
        }
        let swaps = std::fs::read_to_string("/proc/swaps").unwrap_or_default();
        let is_swap = |line: &str| {
            let name = line.split_whitespace().next().unwrap_or_default();
            DeviceNumber::of(Path::new(name)).is_ok_and(|it| it == self)
        };
        if swaps.lines().skip(1).any(is_swap) {
            return Ok(Some(InUse::Swap));
        }
        let sysfs = self.sysfs();
        if let Some(part) = first_entry(&sysfs, |name| sysfs.join(name).join("partition").exists())
        {
            return Ok(Some(InUse::Partitioned(part)));
        }
        match claim(path) {
            Ok(_) => Ok(None),
            Err(error) if error.raw_os_error() == Some(libc::EBUSY) => Ok(Some(InUse::Claimed)),
            Err(error) => Err(error),
        }
    }
}

impl DeviceNumber {
    /// A loop device whose "file" is this device: such a one holds it without being its holder.
    fn loop_device_above(self) -> Option<String> {
        crate::attached_loop_devices()
            .into_iter()
            .find(|(_, backing)| DeviceNumber::of(backing).is_ok_and(|it| it == self))
            .map(|(number, _)| format!("loop{number}"))
    }
}

/// Opens a block device for this process alone; `EBUSY` where the kernel or another holds it.
fn claim(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .read(true)
        .custom_flags(OFlags::EXCL.bits().cast_signed())
        .open(path)
}

fn first_entry(folder: &Path, wanted: impl Fn(&str) -> bool) -> Option<String> {
    let mut names: Vec<_> = std::fs::read_dir(folder)
        .ok()?
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| wanted(name))
        .collect();
    names.sort_unstable();
    names.into_iter().next()
}

fn parse_counters(text: &str) -> Option<BlockCounters> {
    let fields: Vec<u64> = text
        .split_whitespace()
        .map(str::parse)
        .collect::<Result<_, _>>()
        .ok()?;
    let field = |index: usize| fields.get(index).copied();
    Some(BlockCounters {
        reads: field(0)?,
        read_bytes: field(2)? * SECTOR_BYTES,
        writes: field(4)?,
        write_bytes: field(6)? * SECTOR_BYTES,
        busy_ms: field(9)?,
        discards: field(11),
        discard_bytes: field(13).map(|sectors| sectors * SECTOR_BYTES),
        flushes: field(15),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_read_in_the_documented_order() {
        let text = "  10 1 80 5 20 2 160 6 0 7 11 3 0 24 1 4 2\n";
        let expected = BlockCounters {
            reads: 10,
            read_bytes: 40_960,
            writes: 20,
            write_bytes: 81_920,
            busy_ms: 7,
            discards: Some(3),
            discard_bytes: Some(12_288),
            flushes: Some(4),
        };
        assert_eq!(parse_counters(text), Some(expected));
    }

    #[test]
    fn an_old_kernel_has_no_discards_and_no_flushes() {
        let old = parse_counters("1 0 8 0 1 0 8 0 0 1 1").expect("eleven fields");
        assert_eq!((old.discards, old.flushes), (None, None));
        assert_eq!(parse_counters("1 2 x"), None);
    }

    #[test]
    fn a_regular_file_is_no_block_device() {
        let error = DeviceNumber::of(Path::new("/proc/version")).expect_err("no device");
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    }
}
