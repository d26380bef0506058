//! XFS: allocation groups and B-trees everywhere.

use fslab_model::{Bytes, Capabilities, CaseRule, CrashSafety};

use crate::{
    Check, CheckVerdict, Class, Driver, FileSystem, KernelConfig, KernelDriver, MinimumSize, Mkfs,
    OutputStream, RefusedOption, Tool, VersionSource,
};

const ANOTHER_DEVICE: &str = "it names another device, and a trial has one";
const DRY_RUN: &str = "nothing would be formatted";

const fn xfsprogs(program: &'static str) -> Tool {
    Tool {
        program,
        package: "xfsprogs",
        version: VersionSource::Asked {
            argument: "-V",
            stream: OutputStream::Output,
        },
    }
}

pub(crate) static XFS: FileSystem = FileSystem {
    name: "xfs",
    title: "XFS",
    history: "Silicon Graphics designed it in 1993 for large files on many disks, and shipped it \
              with IRIX 5.3 in 1994. SGI ported it to Linux, whose development series took it in \
              with 2.5.36 in 2002, and Red Hat Enterprise Linux made it the default with its 7.",
    class: Class::ForeignSupported,
    driver: Driver::Kernel(KernelDriver {
        fs_type: "xfs",
        served_by: &["xfs"],
        config: KernelConfig(&[&["CONFIG_XFS_FS"]]),
        ..KernelDriver::PLAIN
    }),
    mkfs: Some(Mkfs {
        tool: xfsprogs("mkfs.xfs"),
        subcommand: &[],
        arguments: &["-f"],
        value_letters: "bcdilLmnprs",
        joined_letters: "",
        refused: &[
            RefusedOption {
                option: "-N",
                reason: DRY_RUN,
            },
            RefusedOption {
                option: "-V",
                reason: DRY_RUN,
            },
            RefusedOption {
                option: "-p",
                reason: "it names a file that would fill the file system",
            },
            RefusedOption {
                option: "name=",
                reason: ANOTHER_DEVICE,
            },
            RefusedOption {
                option: "logdev=",
                reason: ANOTHER_DEVICE,
            },
            RefusedOption {
                option: "rtdev=",
                reason: ANOTHER_DEVICE,
            },
        ],
    }),
    check: Some(Check {
        tool: xfsprogs("xfs_repair"),
        arguments: &["-n"],
        judge: judge_xfs_repair,
        blind_to: None,
    }),
    minimum: MinimumSize {
        size: Bytes::mib(300),
        mkfs_version: "6.1.0",
        below: "refuses; older versions take less",
    },
    capabilities: Capabilities {
        persistent: true,
        permissions: true,
        symlinks: true,
        hard_links_max: (1 << 31) - 1,
        case: CaseRule::Sensitive,
        sparse_files: true,
        extended_attributes: true,
        reflinks: true,
        compression: false,
        metadata_checksums: true,
        data_checksums: false,
        crash_safety: CrashSafety::Journal,
        name_bytes_max: 255,
        file_bytes_max: Bytes((1 << 63) - 1),
        volume_bytes_max: Some(Bytes((1 << 63) - 1)),
    },
    given_by_options: &[],
    signature: Some("xfs"),
    bugs: &[],
    deviations: &[],
};

/// xfs_repair(8): 1 is damage, and also what it says of a device that it cannot open; 2 is a log
/// that must first be replayed by a mount.
fn judge_xfs_repair(exit_code: i32, _output: &str) -> CheckVerdict {
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
    fn a_dirty_log_is_not_damage() {
        assert_eq!(judge_xfs_repair(0, ""), CheckVerdict::Clean);
        assert_eq!(judge_xfs_repair(1, ""), CheckVerdict::Errors);
        assert_eq!(judge_xfs_repair(2, ""), CheckVerdict::CouldNotRun);
    }
}
