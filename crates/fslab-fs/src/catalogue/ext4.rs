//! ext4: ext3 with extents, delayed allocation and checksums.

use fslab_model::{Bytes, Capabilities};

use super::ext_family;
use crate::mkfs_defaults::{DefaultsHistory, change};
use crate::reservations::LINUX_ONLY;
use crate::{Class, Driver, FileSystem, KernelConfig, KernelDriver, MinimumSize};

/// Of mke2fs.conf as e2fsprogs ships it; a distribution may ship another one.
const DEFAULTS: DefaultsHistory = DefaultsHistory {
    versions: &["1.42", "1.43", "1.47"],
    changes: &[
        change("1.43", "-O", "^64bit", "64bit"),
        change("1.43", "-O", "^metadata_csum", "metadata_csum"),
        change("1.43", "-O", "uninit_bg", ""),
        change("1.47", "-O", "^metadata_csum_seed", "metadata_csum_seed").known_since("1.47"),
        change("1.47", "-O", "^orphan_file", "orphan_file").known_since("1.47"),
    ],
    source: "mke2fs.conf of e2fsprogs 1.42, 1.43 and 1.47, and its release notes",
};

pub(crate) static EXT4: FileSystem = FileSystem {
    name: "ext4",
    title: "ext4",
    history: "It was split off from ext3 in 2006 so that extents and larger volumes could be \
              developed without risk to that, and was declared stable in Linux 2.6.28 of December \
              2008. Most distributions have made it their default since.",
    class: Class::Native,
    driver: Driver::Kernel(KernelDriver {
        fs_type: "ext4",
        served_by: &["ext4"],
        config: KernelConfig(&[&["CONFIG_EXT4_FS"]]),
        mount_keys: ext_family::MOUNT_KEYS,
        ..KernelDriver::PLAIN
    }),
    mkfs: Some(ext_family::mkfs(
        "mkfs.ext4",
        &["-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0"],
        DEFAULTS,
    )),
    check: Some(ext_family::CHECK),
    minimum: MinimumSize {
        size: Bytes::mib(2),
        mkfs_version: "1.47.0",
        below: "leaves out the journal and exits with 0",
    },
    capabilities: Capabilities {
        metadata_checksums: true,
        // 32-bit block numbers within a file, blocks of 4 KiB, the last number excluded.
        file_bytes_max: Bytes(((1 << 32) - 1) << 12),
        // 48-bit block numbers, blocks of 4 KiB.
        volume_bytes_max: Some(Bytes(1 << 60)),
        ..ext_family::CAPABILITIES
    },
    spread: None,
    given_by_options: &[],
    reservations: &[LINUX_ONLY],
    signature: Some("ext4"),
    bugs: &[],
    deviations: &[
        "-E lazy_itable_init=0,lazy_journal_init=0: inode tables and journal are written out by \
         mkfs. By default a kernel thread zeroes the inode tables after the first mount: 16 MiB \
         in the first 12 seconds of an idle 1 GiB, none with the option (mke2fs 1.47.0, Linux \
         6.18). That writing would fall into the measured phases. mkfs takes longer for it, as \
         its own time shows.",
    ],
};
