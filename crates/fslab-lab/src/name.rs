//! Names of kernels and labs, given by the user.

use std::fmt;
use std::str::FromStr;

use fslab_model::Failure;

use crate::KernelKey;

/// Longest name: it must fit a table.
const LENGTH_MAX: usize = 40;

/// A kernel's name: letters, digits, `.`, `_`, `-` and `+`, starting with a letter or digit. Also
/// used as a file name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KernelName(String);

impl KernelName {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for KernelName {
    /// The name used if none is given.
    fn default() -> Self {
        Self("default".to_owned())
    }
}

impl FromStr for KernelName {
    type Err = Failure;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let bad = |reason| Failure::bad_input(format!("cannot name a lab '{text}': {reason}"));
        if text.is_empty() || text.len() > LENGTH_MAX {
            return Err(bad("it must have 1 to 40 characters"));
        }
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-+".contains(c);
        if !text.starts_with(|c: char| c.is_ascii_alphanumeric()) || !text.chars().all(is_plain) {
            let rule = "it must consist of letters, digits and . _ - +, and start with a letter or \
                        a digit";
            return Err(bad(rule));
        }
        if text.parse::<KernelKey>().is_ok() {
            return Err(bad("it would be mistaken for a kernel's key"));
        }
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Display for KernelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain_and_no_paths_options_or_keys() {
        for name in ["default", "6.15-rc1", "patched_v2+", "abc"] {
            assert_eq!(name.parse::<KernelName>().expect(name).as_str(), name);
        }
        let long = "a".repeat(LENGTH_MAX + 1);
        for name in [
            "",
            ".",
            "..",
            "-x",
            "a/b",
            "a b",
            "ä",
            "0123456789ab",
            &long,
        ] {
            assert!(name.parse::<KernelName>().is_err(), "{name}");
        }
    }
}
