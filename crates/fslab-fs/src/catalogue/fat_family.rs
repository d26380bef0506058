//! What FAT16 and FAT32 share: dosfstools, the vfat driver with its long names, most limits.

use fslab_model::{Bytes, Capabilities, CaseRule, CrashSafety};

use crate::{
    Check, CheckVerdict, KernelConfig, KernelDriver, Mkfs, OutputStream, RefusedOption, Tool,
    VersionSource,
};

pub(super) const DRIVER: KernelDriver = KernelDriver {
    fs_type: "vfat",
    served_by: &["vfat"],
    config: KernelConfig(&[&["CONFIG_VFAT_FS"]]),
    ..KernelDriver::PLAIN
};

/// `-I`, because a device that has partitions would be refused: the user gave it up by its name.
/// `arguments` hold that and the kind of FAT.
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
        value_letters: "bDfFghilmMnrRsS",
        joined_letters: "",
        refused: &[
            RefusedOption {
                option: "-F",
                reason: "the subject's name says which FAT is made",
            },
            RefusedOption {
                option: "-C",
                reason: "it makes a file, and a trial has a device",
            },
            RefusedOption {
                option: "-l",
                reason: "it names a file of bad blocks",
            },
            RefusedOption {
                option: "-m",
                reason: "it names a file with a message",
            },
            RefusedOption {
                option: "--help",
                reason: "nothing would be formatted",
            },
        ],
    }
}

pub(super) const CHECK: Check = Check {
    tool: Tool {
        program: "fsck.fat",
        package: "dosfstools",
        version: VersionSource::Package,
    },
    arguments: &["-n"],
    judge: judge_fsck_fat,
    blind_to: None,
};

pub(super) const CAPABILITIES: Capabilities = Capabilities {
    persistent: true,
    permissions: false,
    symlinks: false,
    hard_links_max: 1,
    case: CaseRule::Preserving,
    sparse_files: false,
    extended_attributes: false,
    reflinks: false,
    compression: false,
    metadata_checksums: false,
    data_checksums: false,
    crash_safety: CrashSafety::None,
    // 255 units of UTF-16: up to 765 bytes of UTF-8.
    name_bytes_max: 255,
    file_bytes_max: Bytes(u32::MAX as u64),
    // Sectors of 512 bytes are counted with 32 bits.
    volume_bytes_max: Some(Bytes((u32::MAX as u64) << 9)),
};

/// fsck.fat(8): 1 is damage, 2 a wrong command line; 6 is a device that cannot be opened.
fn judge_fsck_fat(exit_code: i32, _output: &str) -> CheckVerdict {
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
    fn a_device_that_cannot_be_opened_is_not_damage() {
        assert_eq!(judge_fsck_fat(0, ""), CheckVerdict::Clean);
        assert_eq!(judge_fsck_fat(1, ""), CheckVerdict::Errors);
        assert_eq!(judge_fsck_fat(6, ""), CheckVerdict::CouldNotRun);
    }
}
