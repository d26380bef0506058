//! Common parts of FAT16 and FAT32: dosfstools, the vfat driver with its long names, most limits.

use fslab_model::{Bytes, Capabilities};

use crate::check::judge_one;
use crate::mkfs_defaults::DefaultsHistory;
use crate::option_rule::{KeyRule, OptionRule, OptionValue, key, option};
use crate::{
    CheckCommand, KernelBug, KernelConfig, KernelDriver, Mkfs, OutputStream, Tool, VersionSource,
};

pub(super) const BUGS: &[KernelBug] = &[KernelBug {
    kernel: "Linux 6.12.117",
    effect: "fsync(2) of a new directory does not write its first cluster: names in it can be \
             lost with the power, unless its parent is synced, too.",
    message: "",
    avoided_by: None,
}];

const MKFS_OPTIONS: &[OptionRule] = &[
    option(&["-a"], OptionValue::Nothing),
    option(&["-b"], OptionValue::Number),
    option(&["-c"], OptionValue::Nothing),
    option(&["-D"], OptionValue::Number),
    option(&["-f"], OptionValue::Number),
    option(&["-h"], OptionValue::Number),
    option(&["-i"], OptionValue::Text),
    option(&["-I"], OptionValue::Nothing),
    option(&["-M"], OptionValue::Number),
    option(&["-n"], OptionValue::Text),
    option(&["-r"], OptionValue::Number),
    option(&["-R"], OptionValue::Number),
    option(&["-s"], OptionValue::Number),
    option(&["-S"], OptionValue::Number),
    option(&["-v"], OptionValue::Nothing),
    option(&["--codepage"], OptionValue::Number),
    option(&["--invariant"], OptionValue::Nothing),
];

const MOUNT_KEYS: &[KeyRule] = &[
    key("uid", OptionValue::Number),
    key("gid", OptionValue::Number),
    key("umask", OptionValue::Number),
    key("fmask", OptionValue::Number),
    key("dmask", OptionValue::Number),
    key("allow_utime", OptionValue::Number),
    key("codepage", OptionValue::Number),
    key("time_offset", OptionValue::Number),
    key("utf8", OptionValue::Number),
    key("iocharset", OptionValue::Word),
    key("shortname", OptionValue::Word),
    key("check", OptionValue::Word),
    key("tz", OptionValue::Word),
    key("nfs", OptionValue::Word),
    key("errors", OptionValue::OneOf(&["continue", "remount-ro"])),
];

pub(super) const DRIVER: KernelDriver = KernelDriver {
    fs_type: "vfat",
    served_by: &["vfat"],
    config: KernelConfig(&[&["CONFIG_VFAT_FS"]]),
    mount_keys: MOUNT_KEYS,
    ..KernelDriver::PLAIN
};

/// `-I`, because a device with partitions is refused otherwise; the user has named it for
/// formatting. `arguments` include it and the kind of FAT.
pub(super) const fn mkfs(arguments: &'static [&'static str]) -> Mkfs {
    Mkfs {
        tool: Tool {
            program: "mkfs.fat",
            package: "dosfstools",
            version: VersionSource::Asked {
                argument: "--help",
                stream: OutputStream::Output,
            },
        },
        subcommand: &[],
        arguments,
        joined: &[],
        options: MKFS_OPTIONS,
        defaults: DefaultsHistory::NONE,
        features: None,
        formats_nothing: &["--help"],
    }
}

pub(super) const CHECK: CheckCommand = CheckCommand {
    tool: Tool {
        program: "fsck.fat",
        package: "dosfstools",
        version: VersionSource::Package,
    },
    arguments: &["-n"],
    // fsck.fat(8): 2 is a wrong command line, 6 a device that cannot be opened.
    judge: judge_one,
    blind_to: None,
};

pub(super) const CAPABILITIES: Capabilities = Capabilities {
    // 255 units of UTF-16: up to 765 bytes of UTF-8.
    name_bytes_max: 255,
    file_bytes_max: Bytes(u32::MAX as u64),
    // 32-bit count of sectors of 512 bytes.
    volume_bytes_max: Some(Bytes((u32::MAX as u64) << 9)),
    ..Capabilities::NONE
};
