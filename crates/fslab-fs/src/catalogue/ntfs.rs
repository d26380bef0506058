//! ntfs: NTFS under the driver that came with Linux 7.1.

use fslab_model::{Reservation, ReservationKind};

use super::ntfs_family;
use crate::option_rule::{KeyRule, OptionValue, key};
use crate::{Class, Driver, DriverReleases, FileSystem, KernelConfig, KernelDriver};

const MOUNT_KEYS: &[KeyRule] = &[
    key("uid", OptionValue::Number),
    key("gid", OptionValue::Number),
    key("umask", OptionValue::Number),
    key("fmask", OptionValue::Number),
    key("dmask", OptionValue::Number),
    key("iocharset", OptionValue::Word),
    key("nls", OptionValue::Word),
    key("mft_zone_multiplier", OptionValue::Number),
    key("preallocated_size", OptionValue::Word),
];

pub(crate) static NTFS: FileSystem = FileSystem {
    name: "ntfs",
    title: "NTFS",
    history: "Linux could read NTFS from 1997 on by a driver of this name, which was removed with \
              6.9. A driver that writes, made of that one with iomap and folios, came back under \
              the name with Linux 7.1 of 2026, beside ntfs3.",
    class: Class::ForeignSupported,
    driver: Driver::Kernel(KernelDriver {
        fs_type: "ntfs",
        served_by: &["ntfs"],
        config: KernelConfig(&[&["CONFIG_NTFS_FS"]]),
        mount_keys: MOUNT_KEYS,
        releases: Some(DriverReleases {
            first: (7, 1),
            gone: None,
        }),
        ..KernelDriver::PLAIN
    }),
    mkfs: Some(ntfs_family::MKFS),
    check: Some(ntfs_family::CHECK),
    minimum: ntfs_family::MINIMUM,
    capabilities: ntfs_family::CAPABILITIES,
    spread: None,
    given_by_options: &[],
    reservations: &[
        ntfs_family::READ_BY,
        Reservation::stated(
            ReservationKind::Maturity,
            "The driver is in the kernel since Linux 7.1 of 2026.",
            "Linux, Documentation/filesystems/ntfs.rst",
        ),
    ],
    signature: Some("ntfs"),
    bugs: &[],
    deviations: ntfs_family::DEVIATIONS,
};
