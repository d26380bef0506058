//! ntfs-3g: NTFS by a separate program, through FUSE.

use fslab_model::{Bytes, Capabilities};

use super::ntfs_family::{self, ntfs_3g};
use crate::option_rule::{KeyRule, OptionValue, key};
use crate::{Class, Driver, Feature, FileSystem, FuseDriver, KernelConfig, OutputStream};

const MOUNT_KEYS: &[KeyRule] = &[
    key("uid", OptionValue::Number),
    key("gid", OptionValue::Number),
    key("umask", OptionValue::Number),
    key("fmask", OptionValue::Number),
    key("dmask", OptionValue::Number),
    key("delay_mtime", OptionValue::Number),
    key(
        "streams_interface",
        OptionValue::OneOf(&["none", "windows", "xattr", "openxattr"]),
    ),
    key("special_files", OptionValue::OneOf(&["interix", "wsl"])),
];

pub(crate) static NTFS_3G: FileSystem = FileSystem {
    name: "ntfs-3g",
    title: "NTFS-3G",
    history: "NTFS is Microsoft's of 1993, and kernels before 5.15 could not create a file on \
              it. Szabolcs Szakacsits published this driver in July 2006 as a program that the \
              kernel talks to through FUSE, which costs time at each operation.",
    class: Class::ForeignSupported,
    driver: Driver::Fuse(FuseDriver {
        tool: ntfs_3g("ntfs-3g", OutputStream::Error),
        fs_type: "fuseblk",
        config: KernelConfig(&[&["CONFIG_FUSE_FS"]]),
        // In the foreground it is a child of the trial, which sees its end.
        options: &["no_detach"],
        mount_keys: MOUNT_KEYS,
    }),
    mkfs: Some(ntfs_family::MKFS),
    check: Some(ntfs_family::CHECK),
    minimum: ntfs_family::MINIMUM,
    capabilities: Capabilities {
        // The mount option permissions keeps them.
        permissions: false,
        // A 16-bit count. Measured to 1,237, which took 90 s: each is slower than the one before.
        hard_links_max: 65_535,
        file_bytes_max: Bytes(9_223_372_036_854_771_712),
        ..ntfs_family::CAPABILITIES
    },
    spread: None,
    given_by_options: &[("permissions", Feature::Permissions)],
    reservations: &[ntfs_family::READ_BY],
    signature: Some("ntfs"),
    bugs: &[],
    deviations: ntfs_family::DEVIATIONS,
};
