//! Common parts of the variants of UFS: the driver with its option for the variant, most limits,
//! and reservations.
//!
//! None has a checker: Debian 12 packages no fsck of UFS.

use fslab_model::{Bytes, Capabilities, Reservation, ReservationKind};

use crate::option_rule::{KeyRule, OptionValue, key};
use crate::{KernelConfig, KernelDriver};

const MOUNT_KEYS: &[KeyRule] = &[key(
    "onerror",
    OptionValue::OneOf(&["lock", "umount", "repair"]),
)];

/// The kernel does not detect the variant, so each mount names it.
pub(super) const DRIVER: KernelDriver = KernelDriver {
    fs_type: "ufs",
    served_by: &["ufs"],
    config: KernelConfig(&[&["CONFIG_UFS_FS", "CONFIG_UFS_FS_WRITE"]]),
    mount_keys: MOUNT_KEYS,
    ..KernelDriver::PLAIN
};

pub(super) const CAPABILITIES: Capabilities = Capabilities {
    hard_links_max: 32_000,
    file_bytes_max: Bytes(0),
    ..Capabilities::POSIX
};

pub(super) const READ_BY_FREEBSD: Reservation = Reservation::stated(
    ReservationKind::Compatibility,
    "Of today's systems FreeBSD and NetBSD read and write it.",
    "Linux, Documentation/admin-guide/ufs.rst",
);

pub(super) const EXPERIMENTAL: Reservation = Reservation::stated(
    ReservationKind::Maturity,
    "Linux marks its writing as experimental.",
    "Linux, fs/ufs/Kconfig",
);
