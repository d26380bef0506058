//! The names of the engines.

use std::fmt;
use std::str::FromStr;

use fslab_model::nearest_name;

/// Who issues the operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EngineKind {
    /// One system call after the other: pread, pwrite, open, unlink, ...
    Psync,
    /// io_uring: many reads or writes in flight.
    Uring,
    /// Memory that is mapped to the file.
    Mmap,
    /// Buffered streams of the C library.
    Stdio,
    /// Nothing at all, on a clock that is moved by pseudo-random costs.
    Null,
}

/// No engine has that name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "there is no engine '{name}'{}; known are psync, uring, mmap, stdio, null",
    meant(.nearest)
)]
pub struct ParseEngineError {
    name: String,
    nearest: Option<&'static str>,
}

fn meant(nearest: &Option<&'static str>) -> String {
    nearest.map_or_else(String::new, |nearest| format!(", but '{nearest}'"))
}

impl EngineKind {
    /// Every engine.
    pub const ALL: &[Self] = &[
        Self::Psync,
        Self::Uring,
        Self::Mmap,
        Self::Stdio,
        Self::Null,
    ];

    /// The engine's name in plans and on the command line.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Psync => "psync",
            Self::Uring => "uring",
            Self::Mmap => "mmap",
            Self::Stdio => "stdio",
            Self::Null => "null",
        }
    }
}

impl fmt::Display for EngineKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for EngineKind {
    type Err = ParseEngineError;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.iter().copied().find(|kind| kind.as_str() == name);
        found.ok_or_else(|| ParseEngineError {
            name: name.to_owned(),
            nearest: nearest_name(name, Self::ALL.iter().map(|kind| kind.as_str())),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back_and_a_wrong_one_names_the_nearest() {
        for kind in EngineKind::ALL {
            assert_eq!(kind.to_string().parse(), Ok(*kind));
        }
        let error = "psnyc".parse::<EngineKind>().expect_err("no such engine");
        assert!(error.to_string().contains("but 'psync'"), "{error}");
    }
}
