//! The stored description of a root image.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ImageFile;
use crate::KernelKey;

/// Description of a root image and its build.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RootFacts {
    /// The first 12 digits of `sha256`.
    pub key: KernelKey,
    /// The SHA-256 of the image, 64 hexadecimal digits.
    pub sha256: String,
    /// Length of the image.
    pub bytes: u64,
    /// Version of the list it was built by.
    pub list_version: u32,
    /// Whether it has the servers of network file systems.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub network: bool,
    /// Bytes of the program appended at the image's use.
    pub program_bytes: u32,
    /// Version of its C library, such as `(2, 36)`.
    pub glibc: (u32, u32),
    /// The listed programs in it.
    pub programs: Vec<RootProgram>,
    /// The listed programs that are missing.
    pub missing: Vec<MissingProgram>,
    /// All regular files except the appended one.
    pub files: Vec<ImageFile>,
    /// Time of the build, in seconds since 1970.
    pub built_unix_s: u64,
}

/// A program of a root image.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RootProgram {
    /// Its name.
    pub name: String,
    /// Links to it in the same directory.
    #[serde(default)]
    pub other_names: Vec<String>,
    /// Its path in the guest.
    pub path: PathBuf,
    /// Its Debian package.
    pub package: String,
    /// Version of that package, if the file belongs to it.
    #[serde(default)]
    pub version: Option<String>,
}

/// A listed program that the machine did not have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MissingProgram {
    /// Its name.
    pub name: String,
    /// Names of the links it would have had.
    #[serde(default)]
    pub other_names: Vec<String>,
    /// Its Debian package.
    pub package: String,
    /// A fragment.
    pub reason: String,
}

impl RootFacts {
    /// Names of all programs, including links.
    pub fn program_names(&self) -> impl Iterator<Item = &str> {
        self.programs.iter().flat_map(|program| {
            let names = std::iter::once(&program.name).chain(&program.other_names);
            names.map(String::as_str)
        })
    }
}
