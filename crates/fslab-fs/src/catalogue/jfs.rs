//! JFS: the journaled file system of OS/2.

use fslab_model::{Bytes, Capabilities, CrashSafety};

use crate::check::judge_bits;
use crate::mkfs_defaults::DefaultsHistory;
use crate::option_rule::{KeyRule, OptionRule, OptionValue, key, option};
use crate::reservations::LINUX_ONLY;
use crate::{
    CheckCommand, Class, Driver, FileSystem, KernelBug, KernelConfig, KernelDriver, MinimumSize,
    Mkfs, OutputStream, Tool, VersionSource,
};

const MKFS_OPTIONS: &[OptionRule] = &[
    option(&["-c"], OptionValue::Nothing),
    option(&["-L"], OptionValue::Text),
    option(&["-O"], OptionValue::Nothing),
    option(&["-q"], OptionValue::Nothing),
    option(&["-s"], OptionValue::Number),
];

const MOUNT_KEYS: &[KeyRule] = &[
    key("uid", OptionValue::Number),
    key("gid", OptionValue::Number),
    key("umask", OptionValue::Number),
    key("discard", OptionValue::Number),
    key("iocharset", OptionValue::Word),
    key("errors", OptionValue::OneOf(&["continue", "remount-ro"])),
];

const fn jfsutils(program: &'static str) -> Tool {
    Tool {
        program,
        package: "jfsutils",
        version: VersionSource::Asked {
            argument: "-V",
            stream: OutputStream::Output,
        },
    }
}

pub(crate) static JFS: FileSystem = FileSystem {
    name: "jfs",
    title: "JFS",
    history: "IBM wrote a journaled file system for AIX in 1990 and this second one for OS/2 \
              Warp Server of 1999, with extents, B-trees, and inodes that are made as they are \
              needed. It gave the source to Linux, which has had it since 2.4.20 of November \
              2002.",
    class: Class::ForeignSupported,
    driver: Driver::Kernel(KernelDriver {
        fs_type: "jfs",
        served_by: &["jfs"],
        config: KernelConfig(&[&["CONFIG_JFS_FS"]]),
        mount_keys: MOUNT_KEYS,
        ..KernelDriver::PLAIN
    }),
    mkfs: Some(Mkfs {
        tool: jfsutils("jfs_mkfs"),
        subcommand: &[],
        arguments: &["-q"],
        joined: &[],
        options: MKFS_OPTIONS,
        defaults: DefaultsHistory::NONE,
        features: None,
        formats_nothing: &["-V"],
    }),
    check: Some(CheckCommand {
        tool: jfsutils("jfs_fsck"),
        arguments: &["-n"],
        // With -f in addition to -n it would write to its log on the device.
        judge: judge_bits,
        blind_to: None,
    }),
    minimum: MinimumSize {
        size: Bytes::mib(16),
        mkfs_version: "1.1.15",
        below: "refuses",
    },
    capabilities: Capabilities {
        // Measured to 200,000; the driver's limit is 32 bits.
        hard_links_max: u32::MAX as u64,
        extended_attributes: true,
        crash_safety: CrashSafety::Journal,
        file_bytes_max: Bytes(1 << 52),
        // 40-bit block numbers, blocks of 4 KiB.
        volume_bytes_max: Some(Bytes(1 << 52)),
        ..Capabilities::POSIX
    },
    spread: None,
    given_by_options: &[],
    reservations: &[LINUX_ONLY],
    signature: Some("jfs"),
    bugs: &[KernelBug {
        kernel: "jfsutils 1.1.15-5 of Debian 12, with any kernel",
        effect: "The replay of the log after a crash fails, and changes that were in the log \
                     are lost. Built with -fcommon it works.",
        message: "",
        avoided_by: None,
    }],
    deviations: &[],
};
