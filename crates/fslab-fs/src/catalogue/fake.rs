//! fake: no file system, for tests of everything from plan to report.

use fslab_model::{Bytes, Capabilities};

use crate::{Class, Driver, FileSystem, MinimumSize};

pub(crate) static FAKE: FileSystem = FileSystem {
    name: "fake",
    title: "fake",
    history: "It came into being with fslab, whose own tests it serves. It keeps nothing, needs no \
              device, and its figures mean nothing.",
    class: Class::Native,
    driver: Driver::BuiltIn,
    mkfs: None,
    check: None,
    minimum: MinimumSize {
        size: Bytes(0),
        mkfs_version: "",
        below: "takes nothing and keeps nothing",
    },
    capabilities: Capabilities {
        hard_links_max: u64::MAX,
        extended_attributes: true,
        reflinks: true,
        compression: true,
        metadata_checksums: true,
        data_checksums: true,
        file_bytes_max: Bytes(u64::MAX),
        ..Capabilities::POSIX
    },
    spread: None,
    given_by_options: &[],
    reservations: &[],
    signature: None,
    bugs: &[],
    deviations: &[],
};
