//! UFS2: the Fast File System with 64 bits.

use fslab_model::{Bytes, Capabilities};

use super::{own_formatter, ufs_family};
use crate::{Class, Driver, FileSystem, KernelDriver, MinimumSize};

pub(crate) static UFS2: FileSystem = FileSystem {
    name: "ufs2",
    title: "UFS2",
    history: "Kirk McKusick and Poul-Henning Kamp widened UFS to block numbers of 64 bits and \
              gave it extended attributes, for FreeBSD 5.0 of January 2003. Linux writes it, \
              without soft updates or their journal, and calls that experimental.",
    class: Class::ForeignSupported,
    driver: Driver::Kernel(KernelDriver {
        options: &["ufstype=ufs2"],
        ..ufs_family::DRIVER
    }),
    mkfs: Some(own_formatter::mkfs(&["mkfs", "ufs2"])),
    check: None,
    minimum: MinimumSize {
        size: Bytes::kib(768),
        mkfs_version: own_formatter::VERSION,
        below: "refuses",
    },
    capabilities: Capabilities {
        file_bytes_max: Bytes(2_252_349_704_110_080),
        volume_bytes_max: Some(Bytes(17_592_186_040_320)),
        ..ufs_family::CAPABILITIES
    },
    spread: None,
    given_by_options: &[],
    reservations: &[ufs_family::READ_BY_BSD, ufs_family::EXPERIMENTAL],
    signature: Some("ufs2"),
    bugs: ufs_family::BUGS,
    deviations: &[],
};
