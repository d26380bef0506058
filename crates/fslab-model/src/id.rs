//! Newtypes for every identity, so that none is taken for another.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Names one run of a plan: `20261121-143205-k3f9`, the start in UTC and four letters of chance.
///
/// Sorts by time.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RunId(String);

/// The text has a character that no run's name has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not the name of a run; `fslab list` shows the names")]
pub struct ParseRunIdError(String);

impl ParseRunIdError {
    /// For `text`, which names no run.
    #[must_use]
    pub fn of(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl RunId {
    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for RunId {
    type Err = ParseRunIdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if text.is_empty() || !text.chars().all(plain) {
            return Err(ParseRunIdError::of(text));
        }
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Number of a cell in its plan, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CellId(pub u32);

/// One repeat of a cell: `c0r2` is the third repeat of the first cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TrialId {
    /// The cell.
    pub cell: CellId,
    /// The repeat, from 0.
    pub repeat: u32,
}

impl fmt::Display for TrialId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "c{}r{}", self.cell.0, self.repeat)
    }
}

/// SHA-256 over what decides a plan's outcome, in hexadecimal.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PlanHash(pub String);

impl PlanHash {
    /// The first twelve digits, enough to tell plans apart on a screen.
    #[must_use]
    pub fn short(&self) -> &str {
        self.0.get(..12).unwrap_or(&self.0)
    }
}

impl fmt::Display for PlanHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_name_with_a_slash_or_a_blank_is_refused() {
        assert!("20261121-143205-k3f9".parse::<RunId>().is_ok());
        for bad in ["", "../etc", "a b", "Run"] {
            assert!(bad.parse::<RunId>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_trial_is_named_by_cell_and_repeat() {
        assert_eq!(
            TrialId {
                cell: CellId(4),
                repeat: 2
            }
            .to_string(),
            "c4r2"
        );
    }
}
