//! UFS with soft updates: listed, but Linux has no soft updates.

use fslab_model::{Bytes, Capabilities};

use super::ufs_family;
use crate::{Class, Driver, FileSystem, MinimumSize};

pub(crate) static UFS_SOFT_UPDATES: FileSystem = FileSystem {
    name: "ufs-softupdates",
    title: "UFS with soft updates",
    history: "Marshall Kirk McKusick and Gregory Ganger gave BSD's UFS soft updates in 1999: \
              writes are ordered so that a crash leaves nothing worse than lost space. FreeBSD \
              makes its UFS with them, and since 9.0 of 2012 with a journal of them besides.",
    class: Class::ForeignSupported,
    driver: Driver::Nowhere(
        "Linux's UFS driver has no soft updates; ufs1 and ufs2 are the same file systems without",
    ),
    mkfs: None,
    check: None,
    minimum: MinimumSize {
        size: Bytes(0),
        mkfs_version: "",
        below: "is not run",
    },
    capabilities: Capabilities {
        // Not measured; as documented by FreeBSD.
        hard_links_max: 32_767,
        file_bytes_max: Bytes((1 << 63) - 1),
        ..ufs_family::CAPABILITIES
    },
    spread: None,
    given_by_options: &[],
    reservations: &[ufs_family::READ_BY_BSD],
    signature: None,
    bugs: &[],
    deviations: &[],
};
