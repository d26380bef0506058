//! ext2: the family without a journal.

use fslab_model::{Bytes, Capabilities, CrashSafety};

use super::ext_family;
use crate::reservations::LINUX_ONLY;
use crate::{Class, Driver, FileSystem, KernelConfig, KernelDriver, MinimumSize};

pub(crate) static EXT2: FileSystem = FileSystem {
    name: "ext2",
    title: "ext2",
    history: "Rémy Card wrote it, with Theodore Ts'o and Stephen Tweedie, for the Linux of 1993, \
              and it was what Linux stood on for the rest of that decade. It has no journal, so \
              that a crash means a full check, and it writes nothing twice.",
    class: Class::Native,
    driver: Driver::Kernel(KernelDriver {
        fs_type: "ext2",
        served_by: &["ext4", "ext2"],
        config: KernelConfig(&[
            &["CONFIG_EXT4_FS", "CONFIG_EXT4_USE_FOR_EXT2"],
            &["CONFIG_EXT2_FS"],
        ]),
        mount_keys: ext_family::MOUNT_KEYS,
        ..KernelDriver::PLAIN
    }),
    mkfs: Some(ext_family::mkfs("mkfs.ext2", ext_family::MKFS_ARGUMENTS)),
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
    given_by_options: &[],
    reservations: &[LINUX_ONLY],
    signature: Some("ext2"),
    bugs: &[],
    deviations: &[],
};
