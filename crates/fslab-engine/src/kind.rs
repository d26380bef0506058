//! Names of the engines.

use std::fmt;
use std::str::FromStr;

use fslab_model::{nearest_name, suggestion};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// An engine, which issues operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EngineKind {
    /// One system call at a time: pread, pwrite, open, unlink and others.
    Psync,
    /// Many reads or writes in flight: io_uring, or overlapped I/O with a completion port, by whose
    /// name it goes.
    Uring,
    /// Memory mapping of the file.
    Mmap,
    /// Buffered streams of the C library.
    Stdio,
    /// Nothing, on a clock advanced by pseudo-random costs.
    Null,
}

/// An unknown engine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "there is no engine '{name}'; known are {}{}", known(), suggestion(*.nearest)
)]
pub struct ParseEngineError {
    name: String,
    nearest: Option<&'static str>,
}

fn known() -> String {
    let names: Vec<_> = EngineKind::ALL.iter().map(|kind| kind.as_str()).collect();
    names.join(", ")
}

impl EngineKind {
    /// All engines.
    pub const ALL: &[Self] = &[
        Self::Psync,
        Self::Uring,
        Self::Mmap,
        Self::Stdio,
        Self::Null,
    ];

    /// The engine's name in plans and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Psync => "psync",
            Self::Uring => fslab_sys::QUEUE_ENGINE,
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

impl Serialize for EngineKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for EngineKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        name.parse().map_err(de::Error::custom)
    }
}

/// A text, since names differ between platforms.
impl JsonSchema for EngineKind {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "EngineKind".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_parsed_and_a_wrong_one_suggests_the_nearest() {
        for kind in EngineKind::ALL {
            assert_eq!(kind.to_string().parse(), Ok(*kind));
        }
        let error = "psnyc".parse::<EngineKind>().expect_err("no such engine");
        assert!(
            error.to_string().ends_with("did you mean 'psync'?"),
            "{error}"
        );
    }
}
