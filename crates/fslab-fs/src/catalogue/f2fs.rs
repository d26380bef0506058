//! F2FS: a log-structured file system for flash.

use fslab_model::{Bytes, Capabilities, CrashSafety};

use crate::features;
use crate::mkfs_defaults::DefaultsHistory;
use crate::option_rule::{KeyRule, OptionRule, OptionValue, key, option};
use crate::reservations::LINUX_ONLY;
use crate::spread::{MkfsDevices, MountDevices, SpreadRule, profile};
use crate::{
    CheckCommand, CheckVerdict, Class, Driver, FileSystem, KernelConfig, KernelDriver, MinimumSize,
    Mkfs, OutputStream, Tool, VersionSource,
};

const MKFS_OPTIONS: &[OptionRule] = &[
    option(&["-a"], OptionValue::Number),
    option(&["-d"], OptionValue::Number),
    option(&["-e"], OptionValue::WordsBut(&[])),
    option(&["-E"], OptionValue::WordsBut(&[])),
    option(&["-f"], OptionValue::Nothing),
    option(&["-g"], OptionValue::Word),
    option(&["-i"], OptionValue::Nothing),
    option(&["-l"], OptionValue::Text),
    option(&["-m"], OptionValue::Nothing),
    option(&["-o"], OptionValue::Number),
    option(&["-O"], OptionValue::WordsBut(&[])),
    option(&["-C"], OptionValue::Word),
    option(&["-q"], OptionValue::Nothing),
    option(&["-r"], OptionValue::Nothing),
    option(&["-R"], OptionValue::Word),
    option(&["-s"], OptionValue::Number),
    option(&["-t"], OptionValue::Number),
    option(&["-T"], OptionValue::Number),
    option(&["-U"], OptionValue::Text),
    option(&["-w"], OptionValue::Number),
    option(&["-z"], OptionValue::Number),
];

const MOUNT_KEYS: &[KeyRule] = &[
    key("active_logs", OptionValue::Number),
    key("inline_xattr_size", OptionValue::Number),
    key("io_bits", OptionValue::Number),
    key("reserve_root", OptionValue::Number),
    key("resuid", OptionValue::Number),
    key("resgid", OptionValue::Number),
    key("compress_log_size", OptionValue::Number),
    key("fault_injection", OptionValue::Number),
    key("fault_type", OptionValue::Number),
    key("background_gc", OptionValue::Word),
    key("mode", OptionValue::Word),
    key("alloc_mode", OptionValue::Word),
    key("fsync_mode", OptionValue::Word),
    key("compress_algorithm", OptionValue::Word),
    key("compress_extension", OptionValue::Word),
    key("nocompress_extension", OptionValue::Word),
    key("compress_mode", OptionValue::Word),
    key("checkpoint", OptionValue::Word),
    key("discard_unit", OptionValue::Word),
    key("memory", OptionValue::Word),
    key("whint_mode", OptionValue::Word),
    key("errors", OptionValue::OneOf(&["continue", "remount-ro"])),
    key("jqfmt", OptionValue::OneOf(&["vfsold", "vfsv0", "vfsv1"])),
];

const SPREAD: SpreadRule = SpreadRule {
    profiles: &[profile("", 2, &[])],
    mkfs: MkfsDevices::After("-c"),
    mount: MountDevices::First,
};

const fn f2fs_tools(program: &'static str) -> Tool {
    Tool {
        program,
        package: "f2fs-tools",
        version: VersionSource::Asked {
            argument: "-V",
            stream: OutputStream::Output,
        },
    }
}

pub(crate) static F2FS: FileSystem = FileSystem {
    name: "f2fs",
    title: "F2FS",
    history: "Jaegeuk Kim wrote it at Samsung for flash that hides behind a translation layer, \
              and Linux has it since 3.8 of February 2013. It writes in logs, sorts them by how \
              soon the data will change, and is what many Android telephones keep their data in.",
    class: Class::Native,
    driver: Driver::Kernel(KernelDriver {
        fs_type: "f2fs",
        served_by: &["f2fs"],
        config: KernelConfig(&[&["CONFIG_F2FS_FS"]]),
        mount_keys: MOUNT_KEYS,
        ..KernelDriver::PLAIN
    }),
    mkfs: Some(Mkfs {
        tool: f2fs_tools("mkfs.f2fs"),
        subcommand: &[],
        arguments: &["-f", "-q"],
        joined: &[],
        options: MKFS_OPTIONS,
        defaults: DefaultsHistory::NONE,
        features: Some(&features::F2FS),
        formats_nothing: &["-V"],
    }),
    check: Some(CheckCommand {
        tool: f2fs_tools("fsck.f2fs"),
        arguments: &["--dry-run"],
        judge: judge_fsck_f2fs,
        blind_to: None,
    }),
    minimum: MinimumSize {
        size: Bytes::mib(52),
        mkfs_version: "1.15.0",
        below: "refuses",
    },
    capabilities: Capabilities {
        // Measured to 200,000; the driver's limit is 32 bits.
        hard_links_max: u32::MAX as u64,
        extended_attributes: true,
        // mkfs enables it with -O extra_attr,compression.
        compression: false,
        crash_safety: CrashSafety::CopyOnWrite,
        file_bytes_max: Bytes(4_329_687_105_536),
        // 32-bit block numbers, blocks of 4 KiB.
        volume_bytes_max: Some(Bytes(1 << 44)),
        ..Capabilities::POSIX
    },
    spread: Some(&SPREAD),
    given_by_options: &[],
    reservations: &[LINUX_ONLY],
    signature: Some("f2fs"),
    bugs: &[],
    deviations: &[],
};

/// fsck.f2fs(8) documents 0 or -1; damaged images gave 1, 4 and 255, and 255 is also the status
/// without a superblock. Errors are printed on separate lines.
fn judge_fsck_f2fs(exit_code: i32, output: &str) -> CheckVerdict {
    let finds = output.contains("[Fail]") || output.contains("[ASSERT]");
    match exit_code {
        0 if !finds => CheckVerdict::Clean,
        _ if finds => CheckVerdict::Errors,
        _ => CheckVerdict::CouldNotRun,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damage_follows_from_the_output_and_not_from_the_status_alone() {
        let failed = "[ASSERT] (check_block_count:2087)  --> Wrong SIT valid blocks";
        assert_eq!(
            judge_fsck_f2fs(0, "[FSCK] SIT types [Ok..]"),
            CheckVerdict::Clean
        );
        for code in [0, 1, 4, 255] {
            assert_eq!(judge_fsck_f2fs(code, failed), CheckVerdict::Errors);
        }
        let nothing = "Error: Failed to get the device stat!";
        assert_eq!(judge_fsck_f2fs(8, nothing), CheckVerdict::CouldNotRun);
    }
}
