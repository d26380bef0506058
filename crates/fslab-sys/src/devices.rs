//! Block devices, extents and mounts as data.

use std::path::PathBuf;

/// The number of a block device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DeviceNumber {
    /// The driver.
    pub major: u32,
    /// The device of that driver.
    pub minor: u32,
}

/// Counters of a block device since boot, from `/sys/dev/block/MAJOR:MINOR/stat`.
///
/// Fields that older kernels lack are `None`. See the kernel's Documentation/block/stat.rst.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlockCounters {
    /// Read requests completed.
    pub reads: u64,
    pub read_bytes: u64,
    /// Write requests completed.
    pub writes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Milliseconds with at least one request in flight.
    pub busy_ms: u64,
    /// Discard requests completed (Linux 4.18).
    pub discards: Option<u64>,
    /// Bytes discarded.
    pub discard_bytes: Option<u64>,
    /// Flush requests completed (Linux 5.5).
    pub flushes: Option<u64>,
}

/// A use that forbids formatting a device.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InUse {
    /// It or one of its partitions is mounted.
    #[error("it is mounted on {0}")]
    Mounted(PathBuf),
    /// Another device is built on it: RAID, LVM, encryption, multipath.
    #[error("it is part of {0}")]
    Held(String),
    #[error("it is read-only")]
    ReadOnly,
    /// It is swap space.
    #[error("it is in use as swap space")]
    Swap,
    /// It has partitions.
    #[error("it has the partition {0}")]
    Partitioned(String),
    /// The kernel reports it as claimed.
    #[error("another program or the kernel has claimed it")]
    Claimed,
    /// The file behind a loop device is also behind another one.
    #[error("another loop device, {0}, uses the same file")]
    SharedFile(String),
    /// A device or file below it is in use.
    #[error("the underlying device {device} is in use: {user}")]
    Below {
        /// The disk or file below.
        device: String,
        user: Box<InUse>,
    },
    /// A process has it open for writing.
    #[error("process {pid} ({program}) has {file} open for writing")]
    Writer {
        /// The process.
        pid: u32,
        /// Name of its program.
        program: String,
        /// The path by which it was opened.
        file: String,
    },
}

/// A contiguous part of a file on the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Offset in the file, in bytes.
    pub logical: u64,
    /// Offset on the device, in bytes; meaningless if a flag says so.
    pub physical: u64,
    /// Length in bytes.
    pub length: u64,
    /// Further properties.
    pub flags: ExtentFlags,
}

/// Flags of an extent, as in linux/fiemap.h.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExtentFlags(pub u32);

impl ExtentFlags {
    const LAST: u32 = 0x1;
    const UNKNOWN: u32 = 0x2;
    const DELALLOC: u32 = 0x4;
    const ENCODED: u32 = 0x8;
    const DATA_INLINE: u32 = 0x200;

    /// It is the last of the file.
    pub fn is_last(self) -> bool {
        self.0 & Self::LAST != 0
    }

    /// The data is inside metadata and has no separate block.
    pub fn is_inline(self) -> bool {
        self.0 & Self::DATA_INLINE != 0
    }

    /// True if `physical` is the address of a block with the plain data.
    pub fn has_address(self) -> bool {
        let without = Self::UNKNOWN | Self::DELALLOC | Self::ENCODED | Self::DATA_INLINE;
        self.0 & without == 0
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    pub id: u64,
    /// ID of the parent mount.
    pub parent: u64,
    /// `major:minor` of the files' device.
    pub device_number: String,
    /// The directory or subvolume of the file system that is mounted.
    pub root: PathBuf,
    pub mount_point: PathBuf,
    /// The driver's name, such as `ext4`, `fuseblk` or `overlay`.
    pub fs_type: String,
    /// A device, or another name of the source by the driver.
    pub source: String,
    /// Options of the mount, then those of the file system, without duplicates.
    pub options: Vec<String>,
}

/// Space of a file system, from statvfs(3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileSystemRoom {
    /// Block or fragment size.
    pub block_bytes: u64,
    /// Total size.
    pub total_bytes: u64,
    /// Free space.
    pub free_bytes: u64,
    /// Free space available to unprivileged processes.
    pub available_bytes: u64,
    /// Number of files that can still be created; `None` if the file system has no such limit.
    pub free_files: Option<u64>,
    /// Longest file name by the driver; some report characters, others the worst case.
    pub name_bytes_max: u64,
}
