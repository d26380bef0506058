//! HFS: the first hierarchical file system of the Macintosh.

use fslab_model::{Bytes, Capabilities, Reservation, ReservationKind};

use super::{hfs_plus_family, own_formatter};
use crate::option_rule::{KeyRule, OptionValue, key};
use crate::{Class, Driver, FileSystem, KernelBug, KernelConfig, KernelDriver, MinimumSize};

const MOUNT_KEYS: &[KeyRule] = &[
    key("uid", OptionValue::Number),
    key("gid", OptionValue::Number),
    key("umask", OptionValue::Number),
    key("file_umask", OptionValue::Number),
    key("dir_umask", OptionValue::Number),
    key("session", OptionValue::Number),
    key("part", OptionValue::Number),
    key("codepage", OptionValue::Word),
    key("iocharset", OptionValue::Word),
];

pub(crate) static HFS: FileSystem = FileSystem {
    name: "hfs",
    title: "HFS",
    history: "Apple shipped it in September 1985 with the Macintosh's first hard disk, in place \
              of a flat file system that kept directories for show. Linux writes it; macOS stopped \
              writing it with 10.6 and reading it with 10.15.",
    class: Class::ForeignUnsupported,
    driver: Driver::Kernel(KernelDriver {
        fs_type: "hfs",
        served_by: &["hfs"],
        config: KernelConfig(&[&["CONFIG_HFS_FS"]]),
        mount_keys: MOUNT_KEYS,
        ..KernelDriver::PLAIN
    }),
    mkfs: Some(own_formatter::mkfs(&["mkfs", "hfs"])),
    check: None,
    minimum: MinimumSize {
        size: Bytes::kib(400),
        mkfs_version: own_formatter::VERSION,
        below: "refuses",
    },
    capabilities: Capabilities {
        name_bytes_max: 31,
        file_bytes_max: Bytes((1 << 31) - 1),
        volume_bytes_max: Some(Bytes(2_199_023_255_552)),
        ..Capabilities::NONE
    },
    spread: None,
    given_by_options: &[],
    reservations: &[Reservation::stated(
        ReservationKind::Compatibility,
        "macOS has not written it since 10.6 and not read it since 10.15; Windows does not \
             read it.",
        "Apple, release notes of Mac OS X 10.6 and macOS 10.15; Microsoft, File System \
             Functionality Comparison",
    )],
    signature: Some("hfs"),
    bugs: &[
        KernelBug {
            kernel: "Linux 7.2.13",
            effect: "After the newest file or directory is removed, the next one can get the \
                     number of another one: creating it fails with EEXIST.",
            message: "",
            avoided_by: None,
        },
        KernelBug {
            kernel: "Linux 6.12.117",
            effect: "fsync(2) does not write the node with a file's size and name: both can \
                     be lost with the power.",
            message: "",
            avoided_by: None,
        },
        KernelBug {
            kernel: "Linux 6.12.117",
            effect: "A directory takes 32,765 names; the next one fails with ENOSPC.",
            message: "",
            avoided_by: None,
        },
        KernelBug {
            kernel: "Linux 6.12.95",
            effect: "On a full volume, a growing file is given blocks of another, and overwrites \
                     them.",
            message: "",
            avoided_by: Some("fslab's guest kernel is patched: kernel/patches/hfs-full-volume"),
        },
        KernelBug {
            kernel: "Linux 6.12.95",
            effect: "A file that is unlinked while it is open loses its data, and a process that \
                     writes to it then never comes back from the kernel.",
            message: "",
            avoided_by: None,
        },
        hfs_plus_family::BUG_OF_CLUMPS,
        hfs_plus_family::BUG_OF_TIMES,
        KernelBug {
            kernel: "Linux 6.12.95",
            effect: "Where an allocation block is an even multiple of 512 bytes, the driver \
                     locks one buffer twice while it writes the volume's header, and sync waits \
                     for ever.",
            message: "",
            avoided_by: Some("fslab's formatter begins the blocks at an odd sector"),
        },
    ],
    deviations: &[],
};
