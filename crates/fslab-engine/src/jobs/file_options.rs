//! What a metadata job may vary about its files: how they are named, what they are, when their
//! directories are made, and what becomes of a call that the file system refuses.

use serde::{Deserialize, Serialize};

/// Most files of a tree whose names hold their number in 7 digits.
pub(crate) const STYLED_FILES_MAX: u64 = 10_000_000;

/// How files are named. Every name holds the file's number, so that no two are the same, not even
/// where upper and lower case are one, and a listing leads back to the numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NameStyle {
    /// A letter and 8 digits.
    #[default]
    Number,
    /// 7 digits, then 0 to 12 random letters and digits: those that are made in order have names in
    /// order.
    NumberRandom,
    /// 0 to 12 random letters and digits, then 7 digits.
    RandomNumber,
}

/// What is created.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileKind {
    /// A file.
    #[default]
    File,
    /// Of the first number a file, of all others hard links to it.
    Link,
    /// Of the first number a file, of all others symbolic links to it.
    Symlink,
}

/// A digest of what is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Digest {
    /// SHA-512 (FIPS 180-4).
    #[serde(rename = "sha-512")]
    Sha512,
}

/// When the directories of created files are made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DirectoryTiming {
    /// Before the clock starts.
    #[default]
    Before,
    /// Each with the first file in it, as a part of that operation.
    InTime,
}

/// What is done where the file system refuses a call for good: EINVAL, ENOSYS, EOPNOTSUPP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Refusal {
    /// The job fails.
    #[default]
    Fail,
    /// The job goes on without that call, and says so in its notes.
    Note,
}
