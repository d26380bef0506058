//! HFS+: the Macintosh's file system of 1998 to 2017.

use fslab_model::{Capabilities, CaseRule};

use super::{hfs_plus_family, own_formatter};
use crate::{Class, Driver, FileSystem};

pub(crate) static HFS_PLUS: FileSystem = FileSystem {
    name: "hfs+",
    title: "HFS+",
    history: "Apple released it with Mac OS 8.1 in January 1998, with block numbers of 32 bits \
              and names in Unicode, and used it until APFS took its place in 2017. Linux writes \
              it, but not its journal.",
    class: Class::ForeignSupported,
    driver: Driver::Kernel(hfs_plus_family::DRIVER),
    mkfs: Some(own_formatter::mkfs(&["mkfs", "hfs+"])),
    check: None,
    minimum: hfs_plus_family::MINIMUM,
    capabilities: Capabilities {
        case: CaseRule::Preserving,
        ..hfs_plus_family::CAPABILITIES
    },
    spread: None,
    given_by_options: &[],
    reservations: hfs_plus_family::RESERVATIONS,
    signature: Some("hfs+"),
    bugs: hfs_plus_family::BUGS,
    deviations: &[],
};
