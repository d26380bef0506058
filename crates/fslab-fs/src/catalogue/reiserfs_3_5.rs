//! ReiserFS 3.5: the format of Linux 2.2.

use fslab_model::{Bytes, Capabilities};

use super::{own_formatter, reiserfs_family};
use crate::{Class, Driver, FileSystem, KernelBug, MinimumSize};

pub(crate) static REISERFS_3_5: FileSystem = FileSystem {
    name: "reiserfs-3.5",
    title: "ReiserFS 3.5",
    history: "It is the first format of Hans Reiser's file system that came into wide use, as a \
              patch to Linux 2.2 and with SuSE Linux 6.4 in 2000. It has 32 bits for the size of \
              a file and 16 for its owner, and drivers of 3.6 mount it still.",
    class: Class::Native,
    driver: Driver::Kernel(reiserfs_family::DRIVER),
    mkfs: Some(own_formatter::mkfs(&["mkfs", "reiserfs-3.5"])),
    check: Some(reiserfs_family::CHECK),
    minimum: MinimumSize {
        size: Bytes::mib(33),
        mkfs_version: own_formatter::VERSION,
        below: "refuses",
    },
    capabilities: Capabilities {
        // Measured: the driver gives EFBIG beyond.
        file_bytes_max: Bytes(1 << 31),
        volume_bytes_max: Some(Bytes(8_795_958_804_480)),
        ..reiserfs_family::CAPABILITIES
    },
    spread: None,
    given_by_options: &[],
    reservations: reiserfs_family::RESERVATIONS,
    signature: Some("reiserfs-3.5"),
    bugs: &[
        reiserfs_family::BUG_OF_JOURNAL,
        KernelBug {
            kernel: "Linux 5.14 and later",
            effect: "A directory whose names are short is refused as damaged, and everything in \
                     it fails with EIO: the driver wants 24 bytes for each entry of the first \
                     directory of a leaf, and an entry with a name of n bytes takes 16 + n.",
            message: "reiserfs-5093 is_leaf: item entry count seems wrong *3.5*[1 2 0(1) DIR]; \
                      vs-5150 search_by_key: invalid format found in block 8211. Fsck?",
            avoided_by: Some(
                "fslab's guest kernel is patched: kernel/patches/reiserfs-3.5-short-names",
            ),
        },
    ],
    deviations: &[],
};
