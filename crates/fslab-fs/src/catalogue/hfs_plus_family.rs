//! Common parts of HFS+ and HFSX: the driver, and all limits.
//!
//! Neither has a checker: hpfsck of Debian's hfsplus 1.0.4 does not read the volume's size, expects
//! 0 blocks of every volume, and fails.

use fslab_model::{Bytes, Capabilities, CrashSafety, Reservation, ReservationKind};

use super::own_formatter;
use crate::option_rule::{KeyRule, OptionValue, key};
use crate::{KernelBug, KernelConfig, KernelDriver, MinimumSize};

const MOUNT_KEYS: &[KeyRule] = &[
    key("uid", OptionValue::Number),
    key("gid", OptionValue::Number),
    key("umask", OptionValue::Number),
    key("session", OptionValue::Number),
    key("part", OptionValue::Number),
    key("nls", OptionValue::Word),
];

pub(super) const DRIVER: KernelDriver = KernelDriver {
    fs_type: "hfsplus",
    served_by: &["hfsplus"],
    config: KernelConfig(&[&["CONFIG_HFSPLUS_FS"]]),
    mount_keys: MOUNT_KEYS,
    ..KernelDriver::PLAIN
};

pub(super) const MINIMUM: MinimumSize = MinimumSize {
    size: Bytes::kib(512),
    mkfs_version: own_formatter::VERSION,
    below: "refuses",
};

/// Also in HFS, whose driver allocates clumps in the same way.
pub(super) const BUG_OF_CLUMPS: KernelBug = KernelBug {
    kernel: "Linux 6.12.95",
    effect: "A small file keeps the entire clump that was allocated for its first byte, also after \
             another mount: with clumps of 64 KiB, 6,841 files of 4 KiB filled 428 MiB.",
    message: "",
    avoided_by: Some("fslab's formatter makes clumps of one block"),
};

const BUG_OF_THE_LAST_BLOCKS: KernelBug = KernelBug {
    kernel: "Linux 6.12.117",
    effect: "While the last blocks are given out, the driver says that the allocation file should \
             be longer, though it has a bit for each block; nothing else happens.",
    message: "hfsplus: extend alloc file! (131072,131072,0)",
    avoided_by: None,
};

/// Also in HFS, whose times have the same format.
pub(super) const BUG_OF_TIMES: KernelBug = KernelBug {
    kernel: "Linux 6.12.117",
    effect: "A time before 1970 or after 2106 is not refused, and is another one after the next \
             mount.",
    message: "",
    avoided_by: None,
};

pub(super) const BUGS: &[KernelBug] = &[BUG_OF_CLUMPS, BUG_OF_THE_LAST_BLOCKS, BUG_OF_TIMES];

pub(super) const RESERVATIONS: &[Reservation] = &[Reservation::stated(
    ReservationKind::Compatibility,
    "macOS reads and writes it; Windows does not read it.",
    "Microsoft, File System Functionality Comparison; Seagate, File System Format \
         Recommendations",
)];

pub(super) const CAPABILITIES: Capabilities = Capabilities {
    // Measured to 40,000; the count has 32 bits.
    hard_links_max: u32::MAX as u64,
    sparse_files: false,
    extended_attributes: true,
    crash_safety: CrashSafety::JournalUnused,
    volume_bytes_max: Some(Bytes(4_503_599_627_369_984)),
    ..Capabilities::POSIX
};
