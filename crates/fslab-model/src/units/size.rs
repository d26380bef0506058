//! A size that may be a share of the file system.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Bytes, Share};

/// A size in a study (`"1/4"`, `"64MiB"`) or in a plan (a number of bytes).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "it must be a size, or a share of the file system"
)]
pub enum Size {
    /// Bytes.
    Bytes(u64),
    /// A number with a unit, or a share of the file system.
    Written(String),
}

impl Size {
    /// The size in bytes; shares are of `total`.
    pub fn resolve(&self, total: Bytes) -> Result<u64, String> {
        match self {
            Self::Bytes(bytes) => Ok(*bytes),
            Self::Written(text) => {
                let share: Share = text.parse().map_err(|error| format!("{error}"))?;
                Ok(share.of(total).0)
            }
        }
    }

    /// True for a share of the file system.
    pub fn is_share(&self) -> bool {
        matches!(self, Self::Written(text) if text.parse::<Bytes>().is_err())
    }

    /// The size in bytes once resolved; 0 before.
    pub fn bytes(&self) -> u64 {
        match self {
            Self::Bytes(bytes) => *bytes,
            Self::Written(_) => 0,
        }
    }
}

impl From<u64> for Size {
    fn from(bytes: u64) -> Self {
        Self::Bytes(bytes)
    }
}
