//! A kernel's key: a digest of everything that it is built from.

use std::fmt;
use std::io;
use std::path::Path;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Hexadecimal digits of a key: 48 bits, enough for one user's kernels.
const DIGITS: usize = 12;

/// The first 12 hexadecimal digits of a SHA-256.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
pub struct KernelKey(String);

impl KernelKey {
    /// The digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A text that is no key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a key has 12 hexadecimal digits")]
pub struct ParseKeyError;

impl FromStr for KernelKey {
    type Err = ParseKeyError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let is_digit = |c: u8| c.is_ascii_digit() || (b'a'..=b'f').contains(&c);
        if text.len() == DIGITS && text.bytes().all(is_digit) {
            Ok(Self(text.to_owned()))
        } else {
            Err(ParseKeyError)
        }
    }
}

impl TryFrom<String> for KernelKey {
    type Error = ParseKeyError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<KernelKey> for String {
    fn from(key: KernelKey) -> Self {
        key.0
    }
}

impl fmt::Display for KernelKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Hashes the parts of a key. Each part is preceded by its length, so that different lists of parts
/// never give the same bytes.
#[derive(Clone, Debug, Default)]
pub struct Fingerprint(Sha256);

impl Fingerprint {
    /// Adds a part.
    pub fn add(&mut self, part: impl AsRef<[u8]>) {
        let part = part.as_ref();
        self.0.update((part.len() as u64).to_le_bytes());
        self.0.update(part);
    }

    /// The key of all parts.
    pub fn finish(self) -> KernelKey {
        key_of(&fslab_model::hexadecimal(&self.0.finalize()))
    }
}

/// The key of a file's contents.
pub(crate) fn of_file(path: &Path) -> io::Result<KernelKey> {
    Ok(key_of(&sha256_of(path)?))
}

/// SHA-256 of a file's contents, 64 hexadecimal digits.
pub fn sha256_of(path: &Path) -> io::Result<String> {
    fslab_model::sha256_of(fslab_sys::open_named(path)?)
}

/// The key of a complete digest: its first digits.
pub(crate) fn key_of(sha256: &str) -> KernelKey {
    KernelKey(sha256.chars().take(DIGITS).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(parts: &[&str]) -> KernelKey {
        let mut fingerprint = Fingerprint::default();
        parts.iter().for_each(|part| fingerprint.add(part));
        fingerprint.finish()
    }

    #[test]
    fn a_key_depends_on_where_one_part_ends_and_the_next_begins() {
        assert_eq!(key(&["ab", "c"]), key(&["ab", "c"]));
        assert_ne!(key(&["ab", "c"]), key(&["a", "bc"]));
        assert_ne!(key(&["ab"]), key(&["ab", ""]));
    }

    #[test]
    fn the_key_of_a_file_is_the_beginning_of_its_sha256() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), "abc").expect("written");
        // FIPS 180-4, the one-block example.
        let key = of_file(file.path()).expect("read");
        assert_eq!(key.as_str(), "ba7816bf8f01");
        assert_eq!(key.as_str().parse(), Ok(key));
    }

    #[test]
    fn what_is_no_key_is_refused() {
        for text in [
            "",
            "ba7816bf8f0",
            "ba7816bf8f012",
            "BA7816BF8F01",
            "ga7816bf8f01",
        ] {
            assert_eq!(text.parse::<KernelKey>(), Err(ParseKeyError), "{text}");
        }
    }
}
