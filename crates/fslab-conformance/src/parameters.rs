//! Parameters of the conformance workloads. Defaults follow from the size of the file system, so
//! that the suite fits on small and large ones.

use std::path::PathBuf;

use fslab_model::{Bytes, Size};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Limit of files in one directory.
const FILES_MAX: u64 = 1_000_000;

/// Limit of the depth: longer paths would exceed PATH_MAX.
const DEPTH_MAX: u32 = 500;

/// Creates a tree that tests what a file system does, or compares it. The parameters of `exercise`
/// and `verify` must be the same.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct TreeParameters {
    /// The tree's root below that of the file system.
    pub(crate) directory: PathBuf,
    /// Size of the largest file; 0 for a default from the size of the file system.
    pub(crate) largest: Size,
    /// Files in the directory with many files; 0 for a default.
    #[schemars(range(max = FILES_MAX))]
    pub(crate) files: u64,
    /// Depth of nested directories; 0 for a default.
    #[schemars(range(max = DEPTH_MAX))]
    pub(crate) depth: u32,
    /// What the phase does.
    pub(crate) part: Pass,
}

/// The two halves of the suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Pass {
    /// Creates the tree.
    Exercise,
    /// Compares the tree.
    Verify,
}

impl Default for TreeParameters {
    fn default() -> Self {
        Self {
            directory: "conformance".into(),
            largest: Size::Bytes(0),
            files: 0,
            depth: 0,
            part: Pass::Exercise,
        }
    }
}

/// Fills the file system, compares, deletes and writes again, and waits until the space is free.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct FillParameters {
    /// The directory of the files, below the root.
    pub(crate) directory: PathBuf,
    /// Most bytes to write, or a share of the size: that of the file system, or what a directory
    /// was given.
    pub(crate) most: Size,
    /// Size of each file; 0 for a fortieth of `most`, 4 KiB to 512 MiB.
    pub(crate) file_size: Bytes,
    /// Seconds of writing after which the rest is reserved by fallocate(2) if supported.
    pub(crate) seconds: u32,
}

impl Default for FillParameters {
    fn default() -> Self {
        Self {
            directory: "fill".into(),
            most: Size::Written("1/1".into()),
            file_size: Bytes(0),
            seconds: 120,
        }
    }
}
