//! UFS1: the Fast File System of 4.4BSD.

use fslab_model::{Bytes, Capabilities, Reservation, ReservationKind};

use super::{own_formatter, ufs_family};
use crate::{Class, Driver, FileSystem, KernelDriver, MinimumSize};

pub(crate) static UFS1: FileSystem = FileSystem {
    name: "ufs1",
    title: "UFS1",
    history: "Marshall Kirk McKusick, William Joy, Samuel Leffler and Robert Fabry wrote it as \
              the Fast File System of 4.2BSD in 1983, and its cylinder groups became the model \
              of ext2's block groups. Linux writes the form of 4.4BSD, without soft updates, and \
              calls that experimental.",
    class: Class::ForeignSupported,
    driver: Driver::Kernel(KernelDriver {
        options: &["ufstype=44bsd"],
        ..ufs_family::DRIVER
    }),
    mkfs: Some(own_formatter::mkfs(&["mkfs", "ufs1"])),
    check: None,
    minimum: MinimumSize {
        size: Bytes::kib(704),
        mkfs_version: own_formatter::VERSION,
        below: "refuses",
    },
    capabilities: Capabilities {
        file_bytes_max: Bytes(18_016_597_801_566_208),
        volume_bytes_max: Some(Bytes(8_796_093_018_112)),
        ..ufs_family::CAPABILITIES
    },
    spread: None,
    given_by_options: &[],
    reservations: &[
        Reservation::stated(
            ReservationKind::Compatibility,
            "Of today's systems the BSDs read and write it.",
            "Linux, Documentation/admin-guide/ufs.rst",
        ),
        ufs_family::EXPERIMENTAL,
    ],
    signature: Some("ufs1"),
    bugs: ufs_family::BUGS,
    deviations: &[],
};
