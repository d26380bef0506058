//! Options of a metadata job's files: names, kinds, when their directories are made, and how
//! refused calls are handled.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Limit of files in a tree whose names have 7 digits for the number.
pub(crate) const STYLED_FILES_MAX: u64 = 10_000_000;

/// Naming of files. Every name contains the file's number, so that names are unique even without
/// case, and numbers can be parsed from a listing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NameStyle {
    /// A letter and 8 digits.
    #[default]
    Number,
    /// 7 digits, then 0 to 12 random letters and digits: creation order is name order.
    NumberRandom,
    /// 0 to 12 random letters and digits, then 7 digits.
    RandomNumber,
}

/// Kind of files to create.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FileKind {
    /// Regular files.
    #[default]
    File,
    /// A regular file for the first number, hard links to it for all others.
    Link,
    /// A regular file for the first number, symbolic links to it for all others.
    Symlink,
}

/// Digest of read data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Digest {
    /// SHA-512 (FIPS 180-4).
    #[serde(rename = "sha-512")]
    Sha512,
}

/// When the directories of created files are made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DirectoryTiming {
    /// Before the measurement.
    #[default]
    Before,
    /// With the first file in each, as part of that operation.
    InTime,
}

/// Handling of calls that the file system does not support: EINVAL, ENOSYS, EOPNOTSUPP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Refusal {
    /// The job fails.
    #[default]
    Fail,
    /// The job continues without the call, and adds a note.
    Note,
}
