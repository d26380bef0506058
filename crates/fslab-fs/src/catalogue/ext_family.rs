//! What ext2, ext3 and ext4 share: e2fsprogs, the ext4 driver, and most limits.
//!
//! Limits were measured with e2fsprogs 1.47.0 under Linux 6.18, whose ext4 driver serves all three.

use fslab_model::{Bytes, Capabilities, CaseRule, CrashSafety};

use crate::{Check, CheckVerdict, Mkfs, OutputStream, RefusedOption, Tool, VersionSource};

/// 32-bit block numbers, blocks of 4 KiB.
pub(super) const VOLUME_OF_32_BIT_BLOCKS: Bytes = Bytes(1 << 44);
/// Where the indirect blocks and the 32-bit count of sectors of ext2 and ext3 end.
pub(super) const FILE_OF_INDIRECT_BLOCKS: Bytes = Bytes(2_196_873_666_560);

const DRY_RUN: &str = "nothing would be formatted";

const fn e2fsprogs(program: &'static str) -> Tool {
    Tool {
        program,
        package: "e2fsprogs",
        version: VersionSource::Asked {
            argument: "-V",
            stream: OutputStream::Error,
        },
    }
}

/// `program` with `arguments`, which must start with what [`MKFS_ARGUMENTS`] holds.
pub(super) const fn mkfs(program: &'static str, arguments: &'static [&'static str]) -> Mkfs {
    Mkfs {
        tool: e2fsprogs(program),
        subcommand: &[],
        arguments,
        value_letters: "bdegilmorstCEGIJLMNORTUz",
        joined_letters: "E",
        refused: &[
            RefusedOption {
                option: "-n",
                reason: DRY_RUN,
            },
            RefusedOption {
                option: "-V",
                reason: DRY_RUN,
            },
            RefusedOption {
                option: "-S",
                reason: "it writes superblocks alone",
            },
            RefusedOption {
                option: "-t",
                reason: "the subject's name says which of the family is made",
            },
            RefusedOption {
                option: "device=",
                reason: "it names another device, and a trial has one",
            },
        ],
    }
}

/// Quiet, because progress is drawn with backspaces; forced, because an old signature or an image
/// in place of a device would be asked about.
pub(super) const MKFS_ARGUMENTS: &[&str] = &["-q", "-F"];

/// `-f`, because a clean mark in the superblock would end the check at once; `-n` changes nothing.
pub(super) const CHECK: Check = Check {
    tool: e2fsprogs("e2fsck"),
    arguments: &["-f", "-n"],
    judge: judge_e2fsck,
    blind_to: None,
};

/// ext2 and ext3; ext4 says what it has more.
pub(super) const CAPABILITIES: Capabilities = Capabilities {
    persistent: true,
    permissions: true,
    symlinks: true,
    hard_links_max: 65_000,
    case: CaseRule::Sensitive,
    sparse_files: true,
    extended_attributes: true,
    reflinks: false,
    compression: false,
    metadata_checksums: false,
    data_checksums: false,
    crash_safety: CrashSafety::Journal,
    name_bytes_max: 255,
    file_bytes_max: FILE_OF_INDIRECT_BLOCKS,
    volume_bytes_max: Some(VOLUME_OF_32_BIT_BLOCKS),
};

/// e2fsck(8): the status is a sum of bits. 1, 2 and 4 are errors that were found; the higher ones
/// are the checker's own troubles, and 12 is an error that it could not follow to its end.
fn judge_e2fsck(exit_code: i32, _output: &str) -> CheckVerdict {
    const FOUND: i32 = 1 | 2 | 4;
    match exit_code {
        0 => CheckVerdict::Clean,
        code if code > 0 && code & FOUND != 0 => CheckVerdict::Errors,
        _ => CheckVerdict::CouldNotRun,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_status_of_e2fsck_is_read_bit_by_bit() {
        for (code, verdict) in [
            (0, CheckVerdict::Clean),
            (4, CheckVerdict::Errors),
            (12, CheckVerdict::Errors),
            (8, CheckVerdict::CouldNotRun),
            (16, CheckVerdict::CouldNotRun),
            (32, CheckVerdict::CouldNotRun),
            (128, CheckVerdict::CouldNotRun),
            (-1, CheckVerdict::CouldNotRun),
        ] {
            assert_eq!(judge_e2fsck(code, ""), verdict, "{code}");
        }
    }
}
