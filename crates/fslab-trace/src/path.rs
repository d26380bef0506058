//! Paths below the traced directory, of any bytes.

use fslab_sys::os::OsStrExt;
use std::ffi::OsStr;
use std::fmt;
use std::path::Path;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A path relative to the traced directory, without `.`, `..` and doubled slashes; empty for the
/// directory itself.
///
/// As text, a backslash is doubled and a byte that is not UTF-8 is written as `\xNN`, so that any
/// path survives a round trip.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TracePath(Vec<u8>);

impl TracePath {
    /// The path of `bytes`, relative and normalized.
    #[cfg(test)]
    pub(crate) fn of(bytes: impl Into<Vec<u8>>) -> Self {
        Self(bytes.into())
    }

    /// `absolute` relative to `root`; `None` if it is not below it. `..` is resolved lexically, as
    /// if no component were a symbolic link.
    pub(crate) fn below(root: &[u8], absolute: &[u8]) -> Option<Self> {
        let plain = plain(absolute);
        let rest = match root {
            b"/" => plain.strip_prefix(b"/")?,
            _ => plain.strip_prefix(root)?,
        };
        match rest.strip_prefix(b"/") {
            Some(rest) => Some(Self(rest.to_vec())),
            None if rest.is_empty() || root == b"/" => Some(Self(rest.to_vec())),
            None => None,
        }
    }

    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// True for the directory itself.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// The same as a [`Path`].
    pub fn as_path(&self) -> &Path {
        Path::new(OsStr::from_bytes(&self.0))
    }

    /// The parent directory; `None` for the directory itself.
    pub fn parent(&self) -> Option<Self> {
        if self.is_root() {
            return None;
        }
        let end = self.0.iter().rposition(|byte| *byte == b'/').unwrap_or(0);
        Some(Self(self.0[..end].to_vec()))
    }

    /// All parents below the directory, the nearest first.
    pub fn ancestors(&self) -> impl Iterator<Item = Self> {
        std::iter::successors(self.parent(), Self::parent).take_while(|path| !path.is_root())
    }

    /// The path with the prefix `from` replaced by `to`; `None` if it is not `from` or below it.
    pub(crate) fn moved(&self, from: &Self, to: &Self) -> Option<Self> {
        let rest = self.0.strip_prefix(from.as_bytes())?;
        (rest.is_empty() || rest[0] == b'/').then(|| Self([to.as_bytes(), rest].concat()))
    }

    /// The path of the entry `name` in this directory.
    pub fn join(&self, name: &[u8]) -> Self {
        if self.is_root() {
            return Self(name.to_vec());
        }
        Self([self.as_bytes(), name].join(&b'/'))
    }
}

/// Normalizes an absolute path: no `.`, `..` and doubled slashes.
pub(crate) fn plain(absolute: &[u8]) -> Vec<u8> {
    let mut parts: Vec<&[u8]> = Vec::new();
    for part in absolute.split(|byte| *byte == b'/') {
        match part {
            b"" | b"." => {}
            b".." => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    let mut bytes = vec![b'/'];
    bytes.extend(parts.join(&b'/'));
    bytes
}

impl fmt::Display for TracePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for chunk in self.0.utf8_chunks() {
            for (index, part) in chunk.valid().split('\\').enumerate() {
                let between = if index > 0 { "\\\\" } else { "" };
                write!(f, "{between}{part}")?;
            }
            for byte in chunk.invalid() {
                write!(f, "\\x{byte:02x}")?;
            }
        }
        Ok(())
    }
}

/// Decodes the text form of a path; `None` for an unknown escape.
fn unescaped(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        rest = behind;
        if *first != b'\\' {
            bytes.push(*first);
            continue;
        }
        let (kind, behind) = rest.split_first()?;
        rest = behind;
        match kind {
            b'\\' => bytes.push(b'\\'),
            b'x' => {
                let (digits, behind) = rest.split_at_checked(2)?;
                let digits = std::str::from_utf8(digits).ok()?;
                bytes.push(u8::from_str_radix(digits, 16).ok()?);
                rest = behind;
            }
            _ => return None,
        }
    }
    Some(bytes)
}

impl Serialize for TracePath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for TracePath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let wrong = || serde::de::Error::custom(format!("{text:?} is not a path of a trace"));
        let bytes = unescaped(&text).ok_or_else(wrong)?;
        // Traces are untrusted, and a replay must stay below its directory.
        let is_plain = plain(&[b"/", bytes.as_slice()].concat())[1..] == bytes;
        if !is_plain || bytes.contains(&0) {
            return Err(wrong());
        }
        Ok(Self(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn below(root: &str, path: &str) -> Option<String> {
        TracePath::below(root.as_bytes(), path.as_bytes()).map(|path| path.to_string())
    }

    #[test]
    fn paths_become_relative_to_the_folder_or_are_not_below_it() {
        assert_eq!(below("/a/b", "/a/b/c/../d//e"), Some("d/e".into()));
        assert_eq!(below("/a/b", "/a/./b/"), Some(String::new()));
        assert_eq!(below("/a/b", "/a/bc"), None);
        assert_eq!(below("/a/b", "/a/b/../c"), None);
        assert_eq!(below("/", "/etc"), Some("etc".into()));
    }

    #[test]
    fn paths_of_any_bytes_survive_a_round_trip_through_text() {
        for bytes in [&b"a/b\\c"[..], b"\xff\xfe x", "größe\n".as_bytes(), b""] {
            let path = TracePath::of(bytes);
            let text = serde_json::to_string(&path).expect("text");
            let back: TracePath = serde_json::from_str(&text).expect("a path");
            assert_eq!(back, path, "{text}");
        }
    }

    #[test]
    fn a_path_that_leads_out_of_the_folder_is_refused() {
        for bad in ["/a", "../a", "a/../b", "a//b", "a/", "a\\", "a\\q", "\\x00"] {
            let text = serde_json::to_string(bad).expect("text");
            assert!(serde_json::from_str::<TracePath>(&text).is_err(), "{bad}");
        }
    }

    #[test]
    fn ancestors_start_with_the_nearest_and_a_move_replaces_the_prefix() {
        let path = TracePath::of("a/b/c");
        let above: Vec<_> = path.ancestors().map(|path| path.to_string()).collect();
        assert_eq!(above, ["a/b", "a"]);
        let moved = path.moved(&TracePath::of("a/b"), &TracePath::of("x"));
        assert_eq!(moved, Some(TracePath::of("x/c")));
        assert_eq!(TracePath::of("ab").moved(&TracePath::of("a"), &path), None);
    }
}
