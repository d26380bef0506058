//! Block devices in sysfs: number, size, counters.

use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::{major, minor};

use crate::{BlockCounters, DeviceNumber};

/// Bytes of a sector in sysfs, independent of the device's sector size.
const SECTOR_BYTES: u64 = 512;

impl DeviceNumber {
    /// The number of the block device at `path`.
    ///
    /// # Errors
    /// That of stat(2); `InvalidInput` if `path` is no block device.
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

    /// Parses `MAJOR:MINOR`, the form in sysfs.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (major, minor) = text.split_once(':')?;
        Some(Self {
            major: major.parse().ok()?,
            minor: minor.parse().ok()?,
        })
    }

    /// The number of the device that holds the file system of `path`.
    ///
    /// File systems on several devices or none (Btrfs, tmpfs, overlay) have an anonymous number of
    /// major 0, without a device.
    pub fn holding(path: &Path) -> io::Result<Self> {
        let device = std::fs::metadata(path)?.dev();
        Ok(Self {
            major: major(device),
            minor: minor(device),
        })
    }

    pub(crate) fn sysfs(self) -> PathBuf {
        PathBuf::from(format!("/sys/dev/block/{}:{}", self.major, self.minor))
    }

    /// The kernel's name, such as `sda1` or `loop3`; `None` if there is no such device.
    pub fn kernel_name(self) -> Option<String> {
        let target = std::fs::read_link(self.sysfs()).ok()?;
        Some(target.file_name()?.to_string_lossy().into_owned())
    }

    pub fn size_bytes(self) -> io::Result<u64> {
        let text = std::fs::read_to_string(self.sysfs().join("size"))?;
        let sectors: u64 = text.trim().parse().map_err(io::Error::other)?;
        Ok(sectors * SECTOR_BYTES)
    }

    /// Bytes of a logical block, which every direct access must be a multiple of.
    pub fn logical_block_bytes(self) -> io::Result<u32> {
        let folder = self.sysfs();
        // A partition has the queue of its disk.
        let read = |queue: &str| std::fs::read_to_string(folder.join(queue));
        let text =
            read("queue/logical_block_size").or_else(|_| read("../queue/logical_block_size"))?;
        text.trim().parse().map_err(io::Error::other)
    }

    /// Reads the counters.
    ///
    /// # Errors
    /// That of reading sysfs; `InvalidData` if the line does not have the documented form.
    pub fn counters(self) -> io::Result<BlockCounters> {
        let text = std::fs::read_to_string(self.sysfs().join("stat"))?;
        parse_counters(&text)
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "unknown form of stat"))
    }
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
