//! What a file system can do, and how much it holds: typed, so that a workload can ask.

use fslab_model::Bytes;
use serde::{Deserialize, Serialize};

/// How names that differ only in case are treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CaseRule {
    /// `a` and `A` are two files.
    Sensitive,
    /// `a` and `A` are one file, and the name is kept as it was written.
    Preserving,
    /// `a` and `A` are one file, and the name is kept in one case.
    Folding,
}

/// What keeps the structure whole over a crash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CrashSafety {
    /// Nothing: the checker mends what it can.
    None,
    /// Changes are first written to a journal.
    Journal,
    /// Nothing in use is overwritten; a new root makes changes valid.
    CopyOnWrite,
}

/// Features and limits of a file system as its mkfs makes it without options, under the driver
/// that its entry names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capabilities {
    /// Owner, group and mode of a file are kept.
    pub permissions: bool,
    /// Symbolic links can be made.
    pub symlinks: bool,
    /// Names that one file may have; 1 where there are no hard links.
    pub hard_links_max: u64,
    /// How names that differ only in case are treated.
    pub case: CaseRule,
    /// A hole in a file takes no space.
    pub sparse_files: bool,
    /// Extended attributes of the `user` namespace are kept.
    pub extended_attributes: bool,
    /// Files can share blocks (FICLONE).
    pub reflinks: bool,
    /// Data can be compressed transparently.
    pub compression: bool,
    /// Metadata carries checksums.
    pub metadata_checksums: bool,
    /// Data carries checksums.
    pub data_checksums: bool,
    /// What keeps it whole over a crash.
    pub crash_safety: CrashSafety,
    /// Longest name of a directory entry, in bytes of UTF-8.
    pub name_bytes_max: u32,
    /// Largest size of a file, with blocks of 4 KiB.
    pub file_bytes_max: Bytes,
    /// Largest file system, with blocks of 4 KiB; `None` where nothing is stored.
    pub volume_bytes_max: Option<Bytes>,
}
