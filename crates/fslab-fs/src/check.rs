//! The read-only check of a file system, and what its exit status means.

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
pub struct Check {
    /// The checker.
    pub tool: Tool,
    /// Its arguments; the device is appended.
    pub arguments: &'static [&'static str],
    /// What an exit status means.
    pub judge: fn(i32) -> CheckVerdict,
}
