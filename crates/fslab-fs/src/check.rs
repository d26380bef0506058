//! The read-only check of a file system, and what its exit status and its words mean.

use serde::{Deserialize, Serialize};

use crate::Tool;

/// What a checker found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckVerdict {
    /// The file system is whole.
    Clean,
    /// It is damaged.
    Errors,
    /// The checker could not tell.
    CouldNotRun,
}

/// How a file system is checked without being changed.
#[derive(Clone, Copy, Debug)]
pub struct CheckCommand {
    /// The checker.
    pub tool: Tool,
    /// Its arguments; the device is appended.
    pub arguments: &'static [&'static str],
    /// What an exit status means, with what the checker printed: some say there what their status
    /// does not.
    pub judge: fn(i32, &str) -> CheckVerdict,
    /// What it does not look at, where that is much: a sentence's end, behind its name.
    pub blind_to: Option<&'static str>,
}
