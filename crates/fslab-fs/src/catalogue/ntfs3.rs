//! ntfs3: NTFS under the kernel's own driver.

use fslab_model::{Capabilities, Reservation, ReservationKind};

use super::ntfs_family;
use crate::option_rule::{KeyRule, OptionValue, key};
use crate::{
    Class, Driver, DriverReleases, Feature, FileSystem, KernelBug, KernelConfig, KernelDriver,
};

const MOUNT_KEYS: &[KeyRule] = &[
    key("uid", OptionValue::Number),
    key("gid", OptionValue::Number),
    key("umask", OptionValue::Number),
    key("fmask", OptionValue::Number),
    key("dmask", OptionValue::Number),
    key("iocharset", OptionValue::Word),
    key("nls", OptionValue::Word),
];

pub(crate) static NTFS3: FileSystem = FileSystem {
    name: "ntfs3",
    title: "NTFS3",
    history: "Microsoft wrote NTFS for Windows NT 3.1 of July 1993, with a journal, and \
              attributes of which a small file is one. Paragon Software gave the kernel this \
              driver, its first that writes NTFS in full, and it came with Linux 5.15 of October \
              2021.",
    class: Class::ForeignSupported,
    driver: Driver::Kernel(KernelDriver {
        fs_type: "ntfs3",
        served_by: &["ntfs3"],
        config: KernelConfig(&[&["CONFIG_NTFS3_FS"]]),
        mount_keys: MOUNT_KEYS,
        releases: Some(DriverReleases {
            first: (5, 15),
            gone: None,
        }),
        ..KernelDriver::PLAIN
    }),
    mkfs: Some(ntfs_family::MKFS),
    check: Some(ntfs_family::CHECK),
    minimum: ntfs_family::MINIMUM,
    capabilities: Capabilities {
        // The mount option sparse gives holes.
        sparse_files: false,
        ..ntfs_family::CAPABILITIES
    },
    spread: None,
    given_by_options: &[("sparse", Feature::SparseFiles)],
    reservations: &[
        ntfs_family::READ_BY,
        Reservation::stated(
            ReservationKind::Maturity,
            "The driver is in the kernel since Linux 5.15 of October 2021.",
            "Linux, Documentation/filesystems/ntfs3.rst",
        ),
    ],
    signature: Some("ntfs"),
    bugs: &[
        KernelBug {
            kernel: "Linux 6.12.117",
            effect: "A time before 1970 that is no whole second has an impossible fraction after \
                     the next mount.",
            message: "",
            avoided_by: None,
        },
        KernelBug {
            kernel: "Linux 6.12.117",
            effect: "The numbers of a device file are 0:0 after the next mount.",
            message: "",
            avoided_by: None,
        },
        KernelBug {
            kernel: "Linux 6.1",
            effect: "The table of files does not grow, so that writing fails with ENOSPC on an \
                     empty volume as soon as its first records are used.",
            message: "no free space to extend mft",
            avoided_by: Some("the guest kernel is a 6.12, which does not have it"),
        },
    ],
    deviations: ntfs_family::DEVIATIONS,
};
