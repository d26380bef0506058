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
