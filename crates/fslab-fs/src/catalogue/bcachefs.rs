//! bcachefs: copy on write, derived from a block cache.

use fslab_model::{Bytes, Capabilities, CrashSafety, Reservation, ReservationKind};

use super::own_formatter;
use crate::option_rule::{KeyRule, OptionValue, key};
use crate::reservations::LINUX_ONLY;
use crate::{Class, Driver, DriverReleases, FileSystem, KernelConfig, KernelDriver, MinimumSize};

const MOUNT_KEYS: &[KeyRule] = &[
    key("compression", OptionValue::Word),
    key("background_compression", OptionValue::Word),
    key("data_checksum", OptionValue::Word),
    key("metadata_checksum", OptionValue::Word),
    key("str_hash", OptionValue::Word),
    key("errors", OptionValue::OneOf(&["continue", "ro"])),
    key("data_replicas", OptionValue::Number),
    key("metadata_replicas", OptionValue::Number),
    key("journal_flush_delay", OptionValue::Number),
    key("journal_reclaim_delay", OptionValue::Number),
];

pub(crate) static BCACHEFS: FileSystem = FileSystem {
    name: "bcachefs",
    title: "bcachefs",
    history: "Kent Overstreet announced it in 2015, grown out of his block cache bcache, and it \
              entered Linux 6.7 in January 2024. Since 6.18 the kernel is without it again, and \
              it is built as a separate module.",
    class: Class::Native,
    driver: Driver::Kernel(KernelDriver {
        fs_type: "bcachefs",
        served_by: &["bcachefs"],
        config: KernelConfig(&[&["CONFIG_BCACHEFS_FS"]]),
        mount_keys: MOUNT_KEYS,
        releases: Some(DriverReleases {
            first: (6, 7),
            gone: Some((
                (6, 18),
                "or build its module for this kernel, with the sources of bcachefs-tools",
            )),
        }),
        ..KernelDriver::PLAIN
    }),
    mkfs: Some(own_formatter::mkfs(&["mkfs", "bcachefs"])),
    check: None,
    minimum: MinimumSize {
        size: Bytes::mib(32),
        mkfs_version: own_formatter::VERSION,
        below: "refuses",
    },
    capabilities: Capabilities {
        hard_links_max: u32::MAX as u64,
        extended_attributes: true,
        reflinks: true,
        compression: true,
        metadata_checksums: true,
        data_checksums: true,
        crash_safety: CrashSafety::CopyOnWrite,
        name_bytes_max: 512,
        volume_bytes_max: Some(Bytes(2_251_799_745_527_808)),
        ..Capabilities::POSIX
    },
    spread: None,
    given_by_options: &[],
    reservations: &[
        LINUX_ONLY,
        Reservation::stated(
            ReservationKind::Maturity,
            "It was in the kernel from Linux 6.7 to 6.17 only; since then it is a \
             separate module, which has to be built for each kernel.",
            "Linux, commits of the 6.18 merge window, September 2025",
        ),
    ],
    signature: Some("bcachefs"),
    bugs: &[],
    deviations: &[],
};
