//! What HFS+ and HFSX share: the driver, and all limits.
//!
//! Neither has a checker: hpfsck of Debian's hfsplus 1.0.4 never asks for a volume's size, so that
//! it expects 0 blocks of every volume, and gives up.

use fslab_model::{Bytes, Capabilities, CaseRule, CrashSafety};

use super::own_formatter;
use crate::{KernelConfig, KernelDriver, MinimumSize};

pub(super) const DRIVER: KernelDriver = KernelDriver {
    fs_type: "hfsplus",
    served_by: &["hfsplus"],
    config: KernelConfig(&[&["CONFIG_HFSPLUS_FS"]]),
    ..KernelDriver::PLAIN
};

pub(super) const MINIMUM: MinimumSize = MinimumSize {
    size: Bytes::kib(512),
    mkfs_version: own_formatter::VERSION,
    below: "refuses",
};

pub(super) const CAPABILITIES: Capabilities = Capabilities {
    persistent: true,
    permissions: true,
    symlinks: true,
    // Measured to 40,000; the count has 32 bits.
    hard_links_max: u32::MAX as u64,
    case: CaseRule::Sensitive,
    sparse_files: false,
    extended_attributes: true,
    reflinks: false,
    compression: false,
    metadata_checksums: false,
    data_checksums: false,
    crash_safety: CrashSafety::None,
    name_bytes_max: 255,
    file_bytes_max: Bytes((1 << 63) - 1),
    volume_bytes_max: Some(Bytes(4_503_599_627_369_984)),
};
