//! The read-only check of a file system, and the meaning of its exit status and output.

use serde::{Deserialize, Serialize};

use crate::Tool;

/// The result of a checker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckVerdict {
    /// The file system is consistent.
    Clean,
    /// It is damaged.
    Errors,
    /// The checker failed.
    CouldNotRun,
}

/// The command for a check without changes.
#[derive(Clone, Copy, Debug)]
pub struct CheckCommand {
    /// The checker.
    pub tool: Tool,
    /// Its arguments; the device is appended.
    pub arguments: &'static [&'static str],
    /// Interprets exit status and output; some checkers report damage only in their output.
    pub judge: fn(i32, &str) -> CheckVerdict,
    /// What it does not check, if that is much: the end of a sentence that begins with its name.
    pub blind_to: Option<&'static str>,
}

/// Judges by a status that is 1 for damage alone.
pub(crate) fn judge_one(exit_code: i32, _output: &str) -> CheckVerdict {
    match exit_code {
        0 => CheckVerdict::Clean,
        1 => CheckVerdict::Errors,
        _ => CheckVerdict::CouldNotRun,
    }
}

/// Judges by a status as that of fsck(8), a sum of bits: 1, 2 and 4 are errors found; higher bits
/// are failures of the checker, and 12 is an error during which it failed.
pub(crate) fn judge_bits(exit_code: i32, _output: &str) -> CheckVerdict {
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
    fn a_dirty_log_a_device_that_cannot_be_opened_and_a_wrong_command_line_are_no_damage() {
        assert_eq!(judge_one(0, ""), CheckVerdict::Clean);
        assert_eq!(judge_one(1, ""), CheckVerdict::Errors);
        // Of xfs_repair, fsck.fat and btrfs-check.
        for code in [2, 6, 129] {
            assert_eq!(judge_one(code, ""), CheckVerdict::CouldNotRun, "{code}");
        }
    }

    #[test]
    fn a_status_of_bits_is_read_bit_by_bit() {
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
            assert_eq!(judge_bits(code, ""), verdict, "{code}");
        }
    }
}
