//! HFSX: HFS+ with case-sensitive names.

use fslab_model::{Capabilities, CaseRule};

use super::{hfs_plus_family, own_formatter};
use crate::{Class, Driver, FileSystem};

pub(crate) static HFSX: FileSystem = FileSystem {
    name: "hfsx",
    title: "HFSX",
    history: "It came with Mac OS X 10.3 in 2003 as the variant of HFS+ that distinguishes names \
              by their case. The iPhone used it until APFS came with iOS 10.3 in 2017.",
    class: Class::ForeignSupported,
    driver: Driver::Kernel(hfs_plus_family::DRIVER),
    mkfs: Some(own_formatter::mkfs(&["mkfs", "hfsx"])),
    check: None,
    minimum: hfs_plus_family::MINIMUM,
    capabilities: Capabilities {
        case: CaseRule::Sensitive,
        ..hfs_plus_family::CAPABILITIES
    },
    spread: None,
    given_by_options: &[],
    reservations: hfs_plus_family::RESERVATIONS,
    signature: Some("hfsx"),
    bugs: hfs_plus_family::BUGS,
    deviations: &[],
};
