//! Common parts of the variants of UFS: the driver with its option for the variant, most limits,
//! and reservations.
//!
//! None has a checker: Debian 12 packages no fsck of UFS.

use fslab_model::{Bytes, Capabilities, Reservation, ReservationKind};

use crate::option_rule::{KeyRule, OptionValue, key};
use crate::{KernelBug, KernelConfig, KernelDriver};

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

pub(super) const READ_BY_BSD: Reservation = Reservation::stated(
    ReservationKind::Compatibility,
    "Of today's systems FreeBSD, NetBSD and OpenBSD read and write it.",
    "FreeBSD, newfs(8); NetBSD, newfs(8); OpenBSD, newfs(8), where it is the default since 6.7 of \
     2020",
);

pub(super) const BUGS: &[KernelBug] = &[
    KernelBug {
        kernel: "Linux 6.12.117",
        effect: "Every create, rename and unlink waits for its writes, as if the directory were \
                 synchronous.",
        message: "",
        avoided_by: None,
    },
    KernelBug {
        kernel: "Linux 6.12.117",
        effect: "Each new block is written with zeros before its data, in a request of its own: \
                 writing 1 MiB takes 256 writes more.",
        message: "",
        avoided_by: None,
    },
    KernelBug {
        kernel: "Linux 6.12.117",
        effect: "A name is on the disk before its inode: after a power loss another file can be \
                 found under it.",
        message: "",
        avoided_by: None,
    },
];

pub(super) const EXPERIMENTAL: Reservation = Reservation::stated(
    ReservationKind::Maturity,
    "Linux marks its writing as experimental.",
    "Linux, fs/ufs/Kconfig",
);
