//! HPFS, the successor of FAT in OS/2.

use fslab_model::{Bytes, Capabilities, Reservation, ReservationKind};

use super::own_formatter;
use crate::option_rule::{KeyRule, OptionValue, key};
use crate::reservations::MICROSOFT;
use crate::{Class, Driver, FileSystem, KernelBug, KernelConfig, KernelDriver, MinimumSize};

const MOUNT_KEYS: &[KeyRule] = &[
    key("uid", OptionValue::Number),
    key("gid", OptionValue::Number),
    key("umask", OptionValue::Number),
    key("timeshift", OptionValue::Number),
    key("case", OptionValue::OneOf(&["lower", "asis"])),
    key("check", OptionValue::OneOf(&["none", "normal", "strict"])),
    key("errors", OptionValue::OneOf(&["continue", "remount-ro"])),
    key("eas", OptionValue::OneOf(&["no", "ro", "rw"])),
    key("chkdsk", OptionValue::OneOf(&["no", "errors", "always"])),
];

pub(crate) static HPFS: FileSystem = FileSystem {
    name: "hpfs",
    title: "HPFS",
    history: "Microsoft's Gordon Letwin designed it for OS/2 1.2 of 1989, with long names, \
              B-trees, and bitmaps that lie between the files. The Linux driver that writes it \
              is Mikulas Patocka's, of 1998.",
    class: Class::ForeignUnsupported,
    driver: Driver::Kernel(KernelDriver {
        fs_type: "hpfs",
        served_by: &["hpfs"],
        config: KernelConfig(&[&["CONFIG_HPFS_FS"]]),
        mount_keys: MOUNT_KEYS,
        ..KernelDriver::PLAIN
    }),
    mkfs: Some(own_formatter::mkfs(&["mkfs", "hpfs"])),
    check: None,
    minimum: MinimumSize {
        size: Bytes::mib(1),
        mkfs_version: own_formatter::VERSION,
        below: "refuses",
    },
    capabilities: Capabilities {
        // Owner, mode and the targets of links are stored in OS/2's extended attributes.
        permissions: true,
        symlinks: true,
        name_bytes_max: 254,
        file_bytes_max: Bytes((1 << 31) - 1),
        volume_bytes_max: Some(Bytes(1_099_511_627_264)),
        ..Capabilities::NONE
    },
    spread: None,
    given_by_options: &[],
    reservations: &[Reservation::stated(
        ReservationKind::Compatibility,
        "OS/2 reads and writes it; Windows and macOS do not.",
        MICROSOFT,
    )],
    signature: Some("hpfs"),
    bugs: &[
        KernelBug {
            kernel: "Linux 6.12.117",
            effect: "fsync(2) of an open file does not write its size: a file that is open can be \
                     empty after a power loss.",
            message: "",
            avoided_by: None,
        },
        KernelBug {
            kernel: "Linux 6.12.117",
            effect: "A file cannot be lengthened by truncate (EINVAL); a write behind its end \
                     lengthens it.",
            message: "",
            avoided_by: None,
        },
    ],
    deviations: &[],
};
