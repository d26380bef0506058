//! The description of a root image, as it is stored beside it.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::ImageFile;
use crate::KernelKey;

/// What a root image is, and how it came to be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RootFacts {
    /// The first 12 digits of `sha256`.
    pub key: KernelKey,
    /// The SHA-256 of the image, 64 hexadecimal digits.
    pub sha256: String,
    /// The length of the image.
    pub bytes: u64,
    /// The version of the list that it was built by.
    pub list_version: u32,
    /// The bytes of the program that is appended where the image is used.
    pub program_bytes: u32,
    /// The version of its C library, such as `(2, 36)`.
    pub glibc: (u32, u32),
    /// The programs of the list that it has.
    pub programs: Vec<RootProgram>,
    /// The programs of the list that it has not.
    pub missing: Vec<MissingProgram>,
    /// Every regular file but the appended one.
    pub files: Vec<ImageFile>,
    /// When it was built, in seconds since 1970.
    pub built_unix_s: u64,
}

/// A program in a root.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RootProgram {
    /// Its name.
    pub name: String,
    /// Links to it in the same folder.
    #[serde(default)]
    pub other_names: Vec<String>,
    /// Its path in the guest.
    pub path: PathBuf,
    /// The Debian package that has it.
    pub package: String,
    /// The version of that package, where its file was the package's.
    #[serde(default)]
    pub version: Option<String>,
}

/// A program that the machine did not have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissingProgram {
    /// Its name.
    pub name: String,
    /// What else it would have been called.
    #[serde(default)]
    pub other_names: Vec<String>,
    /// The Debian package that has it.
    pub package: String,
    /// A fragment.
    pub reason: String,
}

impl RootFacts {
    /// The names of all programs that a guest finds.
    pub fn program_names(&self) -> impl Iterator<Item = &str> {
        self.programs.iter().flat_map(|program| {
            let names = std::iter::once(&program.name).chain(&program.other_names);
            names.map(String::as_str)
        })
    }
}
