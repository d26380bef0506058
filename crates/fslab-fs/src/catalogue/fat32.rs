//! FAT32: the file allocation table with 28 bits an entry.

use fslab_model::{Bytes, Reservation, ReservationKind};

use super::fat_family;
use crate::{Class, Driver, FileSystem, MinimumSize};

pub(crate) static FAT32: FileSystem = FileSystem {
    name: "fat32",
    title: "FAT32",
    history: "It came with the second service release of Windows 95 in August 1996, because 16 \
              bits had run out at volumes of 2 GB. Memory cards up to 32 GB are sold with it to \
              this day, and nearly every device reads and writes it.",
    class: Class::ForeignUnsupported,
    driver: Driver::Kernel(fat_family::DRIVER),
    mkfs: Some(fat_family::mkfs(&["-I", "-F", "32"])),
    check: Some(fat_family::CHECK),
    minimum: MinimumSize {
        size: Bytes::kib(33_296),
        mkfs_version: "4.2",
        below: "warns that other systems will take it for FAT16",
    },
    capabilities: fat_family::CAPABILITIES,
    spread: None,
    given_by_options: &[],
    reservations: &[Reservation::stated(
        ReservationKind::Compatibility,
        "Windows, macOS, Linux, Android, and nearly every camera, player and television read and \
             write it; cards of 4 to 32 GB are sold with it.",
        "Microsoft, File System Functionality Comparison; Android Open Source Project, \
             platform/system/vold, PublicVolume.cpp; SD Association, SDHC capacity standard",
    )],
    signature: Some("fat32"),
    bugs: fat_family::BUGS,
    deviations: &[],
};
