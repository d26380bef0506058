//! UFS with soft updates: listed, but Linux has no soft updates.

use fslab_model::{Bytes, Capabilities, CaseRule, CrashSafety, Reservation, ReservationKind};

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
        persistent: true,
        permissions: true,
        symlinks: true,
        // Not measured; as documented by FreeBSD.
        hard_links_max: 32_767,
        case: CaseRule::Sensitive,
        sparse_files: true,
        extended_attributes: false,
        reflinks: false,
        compression: false,
        metadata_checksums: false,
        data_checksums: false,
        crash_safety: CrashSafety::None,
        name_bytes_max: 255,
        file_bytes_max: Bytes((1 << 63) - 1),
        volume_bytes_max: None,
    },
    given_by_options: &[],
    reservations: &[Reservation::stated(
        ReservationKind::Compatibility,
        "Of today's systems FreeBSD and NetBSD read and write it.",
        "Linux, Documentation/admin-guide/ufs.rst",
    )],
    signature: None,
    bugs: &[],
    deviations: &[],
};
