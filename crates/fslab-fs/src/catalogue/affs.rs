//! AFFS, the Amiga's Fast File System.

use fslab_model::{Bytes, Capabilities, CaseRule, Reservation, ReservationKind};

use super::own_formatter;
use crate::option_rule::{KeyRule, OptionValue, key};
use crate::{Class, Driver, FileSystem, KernelBug, KernelConfig, KernelDriver, MinimumSize};

const MOUNT_KEYS: &[KeyRule] = &[
    key("setuid", OptionValue::Number),
    key("setgid", OptionValue::Number),
    key("mode", OptionValue::Number),
    key("reserved", OptionValue::Number),
    key("root", OptionValue::Number),
    key("bs", OptionValue::Number),
];

pub(crate) static AFFS: FileSystem = FileSystem {
    name: "affs",
    title: "AFFS",
    history: "Commodore gave the Amiga this Fast File System with AmigaOS 1.3 in 1988, in place \
              of one that spent 24 bytes of each block on a header. Linux has written it since \
              the 1990s, with a driver that Ray Burr began in 1993 and Hans-Joachim Widmaier \
              wrote anew in 1996.",
    class: Class::ForeignUnsupported,
    driver: Driver::Kernel(KernelDriver {
        fs_type: "affs",
        served_by: &["affs"],
        config: KernelConfig(&[&["CONFIG_AFFS_FS"]]),
        mount_keys: MOUNT_KEYS,
        ..KernelDriver::PLAIN
    }),
    mkfs: Some(own_formatter::mkfs(&["mkfs", "affs"])),
    check: None,
    minimum: MinimumSize {
        size: Bytes::kib(128),
        mkfs_version: own_formatter::VERSION,
        below: "refuses",
    },
    capabilities: Capabilities {
        // The links of a file are an unlimited chain of headers.
        hard_links_max: u32::MAX as u64,
        case: CaseRule::Preserving,
        sparse_files: false,
        name_bytes_max: 30,
        file_bytes_max: Bytes((1 << 31) - 1),
        volume_bytes_max: Some(Bytes(1_099_511_627_264)),
        ..Capabilities::POSIX
    },
    spread: None,
    given_by_options: &[],
    reservations: &[Reservation::stated(
        ReservationKind::Compatibility,
        "AmigaOS reads and writes it; Windows and macOS do not.",
        "Linux, Documentation/filesystems/affs.rst; Microsoft, File System Functionality \
             Comparison",
    )],
    signature: Some("affs"),
    bugs: &[
        KernelBug {
            kernel: "Linux 6.12.117",
            effect: "Data appended to a file that has 72 blocks of 512 bytes or more can be lost \
                     at the next mount, without a crash and after fsync(2).",
            message: "",
            avoided_by: None,
        },
        KernelBug {
            kernel: "Linux 6.12.117",
            effect: "A symbolic link to ../NAME is read as /NAME, and absolute ones change with \
                     a remount.",
            message: "",
            avoided_by: None,
        },
        KernelBug {
            kernel: "Linux 6.12.117",
            effect: "A hard link cannot be renamed (ENOENT), and the count of a file's names is \
                     always 2.",
            message: "",
            avoided_by: None,
        },
    ],
    deviations: &[],
};
