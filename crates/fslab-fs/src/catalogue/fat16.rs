//! FAT16: the file allocation table with 16 bits an entry.

use fslab_model::{Bytes, Capabilities, Reservation, ReservationKind};

use super::fat_family;
use crate::{Class, Driver, FileSystem, MinimumSize};

/// The largest that mkfs.fat 4.2 makes with sectors of 512 bytes: clusters of 64 KiB.
const VOLUME: Bytes = Bytes(4_294_660_096);

pub(crate) static FAT16: FileSystem = FileSystem {
    name: "fat16",
    title: "FAT16",
    history: "Microsoft's file allocation table is of 1977, and MS-DOS 3.0 gave its entries 16 \
              bits in 1984, for the 20 MB disk of IBM's PC/AT. Linux mounts it with Windows 95's \
              long names, and has no permissions and no links to keep there.",
    class: Class::ForeignUnsupported,
    driver: Driver::Kernel(fat_family::DRIVER),
    mkfs: Some(fat_family::mkfs(&["-I", "-F", "16"])),
    check: Some(fat_family::CHECK),
    minimum: MinimumSize {
        size: Bytes::kib(8208),
        mkfs_version: "4.2",
        below: "refuses",
    },
    capabilities: Capabilities {
        // Limited by the volume.
        file_bytes_max: VOLUME,
        volume_bytes_max: Some(VOLUME),
        ..fat_family::CAPABILITIES
    },
    spread: None,
    given_by_options: &[],
    reservations: &[Reservation::stated(
        ReservationKind::Compatibility,
        "Windows, macOS, Linux, Android and nearly every camera and player read and write it; cards \
             up to 2 GB are sold with it.",
        "SD Association, SDSC capacity standard; Android Open Source Project, \
             platform/system/vold, PublicVolume.cpp",
    )],
    signature: Some("fat16"),
    bugs: fat_family::BUGS,
    deviations: &[],
};
