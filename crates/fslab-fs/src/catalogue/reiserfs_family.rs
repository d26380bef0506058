//! Common parts of ReiserFS 3.5 and 3.6: reiserfsprogs, the driver, most limits.

use fslab_model::{Bytes, Capabilities, CrashSafety, Reservation, ReservationKind};

use crate::option_rule::{KeyRule, OptionValue, key};
use crate::reservations::LINUX_ONLY;
use crate::{
    CheckCommand, CheckVerdict, DriverReleases, KernelBug, KernelConfig, KernelDriver,
    OutputStream, Tool, VersionSource,
};

const MOUNT_KEYS: &[KeyRule] = &[
    key("commit", OptionValue::Number),
    key("barrier", OptionValue::OneOf(&["none", "flush"])),
    key("conv", OptionValue::Word),
    key(
        "data",
        OptionValue::OneOf(&["journal", "ordered", "writeback"]),
    ),
    key(
        "hash",
        OptionValue::OneOf(&["rupasov", "tea", "r5", "detect"]),
    ),
    key("block-allocator", OptionValue::Word),
    key("alloc", OptionValue::Word),
    key("jqfmt", OptionValue::OneOf(&["vfsold", "vfsv0"])),
    key("errors", OptionValue::OneOf(&["ro_remount", "continue"])),
    key("tails", OptionValue::OneOf(&["on", "off", "small"])),
];

pub(super) const fn reiserfsprogs(program: &'static str) -> Tool {
    Tool {
        program,
        package: "reiserfsprogs",
        version: VersionSource::Asked {
            argument: "-V",
            stream: OutputStream::Error,
        },
    }
}

pub(super) const DRIVER: KernelDriver = KernelDriver {
    fs_type: "reiserfs",
    served_by: &["reiserfs"],
    config: KernelConfig(&[&["CONFIG_REISERFS_FS"]]),
    mount_keys: MOUNT_KEYS,
    releases: Some(DriverReleases {
        first: (2, 4),
        gone: Some(((6, 13), "for new data ext4, XFS or Btrfs take its place")),
    }),
    ..KernelDriver::PLAIN
};

/// `--yes`, because it asks before it begins. It replays the journal of a volume that was not
/// unmounted, and records the check in the superblock.
pub(super) const CHECK: CheckCommand = CheckCommand {
    tool: reiserfsprogs("reiserfsck"),
    arguments: &["--check", "--yes", "--quiet"],
    judge: judge_reiserfsck,
    blind_to: None,
};

pub(super) const BUG_OF_JOURNAL: KernelBug = KernelBug {
    kernel: "Linux 6.12.95 without CONFIG_BLK_DEV_WRITE_MOUNTED",
    effect: "No mount succeeds: the driver opens its own device a second time for the journal, \
             and the kernel refuses that.",
    message: "REISERFS warning (device ubda): sh-458 journal_init_dev: cannot init journal device \
              unknown-block(98,0): -16",
    avoided_by: Some("the guest kernel is built with that option"),
};

pub(super) const CAPABILITIES: Capabilities = Capabilities {
    hard_links_max: 64_535,
    // The mount option user_xattr keeps them.
    extended_attributes: false,
    crash_safety: CrashSafety::Journal,
    // The driver's limit; the format allows more.
    file_bytes_max: Bytes(2_199_023_251_456),
    volume_bytes_max: Some(Bytes(((1 << 32) - 1) << 12)),
    ..Capabilities::POSIX
};

pub(super) const RESERVATIONS: &[Reservation] = &[
    LINUX_ONLY,
    Reservation::stated(
        ReservationKind::Maturity,
        "The driver was removed from the kernel with Linux 6.13 of January 2025.",
        "Linux, fs/Kconfig of 6.12 and 6.13",
    ),
];

/// reiserfsck(8): 0 is clean, 1, 4 and 6 are damage; 8 and 16 are failures of the checker.
fn judge_reiserfsck(exit_code: i32, _output: &str) -> CheckVerdict {
    match exit_code {
        0 => CheckVerdict::Clean,
        1 | 2 | 4 | 6 => CheckVerdict::Errors,
        _ => CheckVerdict::CouldNotRun,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_that_holds_no_reiserfs_is_not_damage() {
        assert_eq!(judge_reiserfsck(0, ""), CheckVerdict::Clean);
        assert_eq!(judge_reiserfsck(4, ""), CheckVerdict::Errors);
        assert_eq!(judge_reiserfsck(8, ""), CheckVerdict::CouldNotRun);
    }
}
