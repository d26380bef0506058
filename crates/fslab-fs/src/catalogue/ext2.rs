//! ext2: the family without a journal.

use fslab_model::{Bytes, Capabilities, CrashSafety};

use super::ext_family;
use crate::mkfs_defaults::DefaultsHistory;
use crate::reservations::LINUX_ONLY;
use crate::{
    Class, Driver, DriverChoice, FileSystem, KernelBug, KernelConfig, KernelDriver, MinimumSize,
};

/// The drivers of a kernel that has both. A distribution builds ext4's alone, which mounts a file
/// system of the type ext2 without delayed allocation: that is what its users get.
const CHOICES: &[DriverChoice] = &[
    DriverChoice {
        name: "ext4",
        options: &["nodelalloc"],
    },
    DriverChoice {
        name: "ext2",
        options: &[],
    },
];

pub(crate) static EXT2: FileSystem = FileSystem {
    name: "ext2",
    title: "ext2",
    history: "Rémy Card wrote it, with Theodore Ts'o and Stephen Tweedie, for the Linux of 1993, \
              and it was what Linux stood on for the rest of that decade. It has no journal, so \
              that a crash means a full check.",
    class: Class::Native,
    driver: Driver::Kernel(KernelDriver {
        fs_type: "ext2",
        choices: CHOICES,
        served_by: &["ext4", "ext2"],
        config: KernelConfig(&[&["CONFIG_EXT4_FS"]]),
        mount_keys: ext_family::MOUNT_KEYS,
        ..KernelDriver::PLAIN
    }),
    mkfs: Some(ext_family::mkfs(
        "mkfs.ext2",
        ext_family::MKFS_ARGUMENTS,
        DefaultsHistory::NONE,
    )),
    check: Some(ext_family::CHECK),
    minimum: MinimumSize {
        size: Bytes::kib(104),
        mkfs_version: "1.47.0",
        below: "fails: no inode is left for lost+found",
    },
    capabilities: Capabilities {
        crash_safety: CrashSafety::None,
        ..ext_family::CAPABILITIES
    },
    spread: None,
    given_by_options: &[],
    reservations: &[LINUX_ONLY],
    signature: Some("ext2"),
    bugs: &[KernelBug {
        kernel: "the driver ext2 of Linux 6.12.117 (driver=ext2)",
        effect: "Every create, rename and unlink waits for its writes, as if the directory \
                     were synchronous; sync(2) sends no flush; a name is on the disk before its \
                     inode.",
        message: "",
        avoided_by: Some("the driver ext4 mounts it, unless driver=ext2 asks for the other"),
    }],
    deviations: &[
        "-o nodelalloc: the driver ext4 mounts it, as in the kernels of distributions, and there \
         sets this option for the type ext2. driver=ext2 takes the kernel's own driver ext2 where it \
         has one, as fslab's lab does.",
    ],
};
