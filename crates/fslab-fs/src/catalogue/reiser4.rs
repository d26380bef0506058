//! Reiser4: listed, but no kernel mounts it.

use fslab_model::{Bytes, Capabilities, CrashSafety, Reservation, ReservationKind};

use crate::{Class, Driver, FileSystem, MinimumSize};

pub(crate) static REISER4: FileSystem = FileSystem {
    name: "reiser4",
    title: "Reiser4",
    history: "Namesys published it in 2004 as the successor of ReiserFS, with plugins, and \
              transactions that write nothing twice. It was never taken into the kernel, and the \
              patches that carried it end with Linux 5.16.",
    class: Class::Native,
    driver: Driver::Nowhere("no kernel release ever had a driver for it"),
    mkfs: None,
    check: None,
    minimum: MinimumSize {
        size: Bytes(0),
        mkfs_version: "",
        below: "is not run",
    },
    capabilities: Capabilities {
        // Not measured; as stated by its authors.
        hard_links_max: u32::MAX as u64,
        crash_safety: CrashSafety::Journal,
        name_bytes_max: 3976,
        ..Capabilities::POSIX
    },
    spread: None,
    given_by_options: &[],
    reservations: &[Reservation::stated(
        ReservationKind::Maturity,
        "No release of the kernel has a driver for it.",
        "the kernel's fs/",
    )],
    signature: Some("reiser4"),
    bugs: &[],
    deviations: &[],
};
