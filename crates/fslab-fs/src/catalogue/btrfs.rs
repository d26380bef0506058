//! Btrfs: copy on write, checksums of everything, snapshots.

use fslab_model::{Bytes, Capabilities, CaseRule, CrashSafety};

use crate::{
    Check, CheckVerdict, Class, Driver, FileSystem, KernelConfig, KernelDriver, MinimumSize, Mkfs,
    OutputStream, RefusedOption, Tool, VersionSource,
};

const DRY_RUN: &str = "nothing would be formatted";

const fn btrfs_progs(program: &'static str) -> Tool {
    Tool {
        program,
        package: "btrfs-progs",
        version: VersionSource::Asked {
            argument: "--version",
            stream: OutputStream::Output,
        },
    }
}

pub(crate) static BTRFS: FileSystem = FileSystem {
    name: "btrfs",
    title: "Btrfs",
    history: "Chris Mason began it at Oracle in 2007 on Ohad Rodeh's B-trees, which are copied and \
              never overwritten, and it entered Linux 2.6.29 in March 2009. It brought checksums \
              of data, snapshots and several devices under one file system to Linux.",
    class: Class::Native,
    driver: Driver::Kernel(KernelDriver {
        fs_type: "btrfs",
        served_by: &["btrfs"],
        config: KernelConfig(&[&["CONFIG_BTRFS_FS"]]),
        ..KernelDriver::PLAIN
    }),
    mkfs: Some(Mkfs {
        tool: btrfs_progs("mkfs.btrfs"),
        subcommand: &[],
        arguments: &["-f"],
        value_letters: "AblnsmdLROrU",
        joined_letters: "",
        refused: &[
            RefusedOption {
                option: "-V",
                reason: DRY_RUN,
            },
            RefusedOption {
                option: "--version",
                reason: DRY_RUN,
            },
            RefusedOption {
                option: "--help",
                reason: DRY_RUN,
            },
            RefusedOption {
                option: "-r",
                reason: "it names a folder that would fill the file system",
            },
            RefusedOption {
                option: "--rootdir",
                reason: "it names a folder that would fill the file system",
            },
        ],
    }),
    check: Some(Check {
        tool: btrfs_progs("btrfs"),
        arguments: &["check", "--readonly"],
        judge: judge_btrfs_check,
        blind_to: None,
    }),
    minimum: MinimumSize {
        size: Bytes::mib(109),
        mkfs_version: "6.2",
        below: "refuses, with metadata kept twice on one device",
    },
    capabilities: Capabilities {
        persistent: true,
        permissions: true,
        symlinks: true,
        hard_links_max: 65_535,
        case: CaseRule::Sensitive,
        sparse_files: true,
        extended_attributes: true,
        reflinks: true,
        compression: true,
        metadata_checksums: true,
        data_checksums: true,
        crash_safety: CrashSafety::CopyOnWrite,
        name_bytes_max: 255,
        file_bytes_max: Bytes((1 << 63) - 1),
        volume_bytes_max: Some(Bytes(u64::MAX)),
    },
    given_by_options: &[],
    signature: Some("btrfs"),
    bugs: &[],
    deviations: &[],
};

/// btrfs-check(8): zero is success, and everything else failure; 129 is a wrong command line.
fn judge_btrfs_check(exit_code: i32, _output: &str) -> CheckVerdict {
    match exit_code {
        0 => CheckVerdict::Clean,
        1 => CheckVerdict::Errors,
        _ => CheckVerdict::CouldNotRun,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_failed_check_is_damage() {
        assert_eq!(judge_btrfs_check(0, ""), CheckVerdict::Clean);
        assert_eq!(judge_btrfs_check(1, ""), CheckVerdict::Errors);
        assert_eq!(judge_btrfs_check(129, ""), CheckVerdict::CouldNotRun);
    }
}
