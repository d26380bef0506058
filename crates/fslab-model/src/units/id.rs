//! Newtypes for identities, so that they cannot be confused.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::text::text_type::text_type;

/// The name of one run: `20261121-143205-k3f9`, the start in UTC and four random letters.
///
/// Sorts by time. Used in file names, so it has only letters, digits and `-`, at most
/// [`RunId::LENGTH_MAX`], also when imported.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RunId(String);

/// The text is empty, too long, or has a character that is not allowed in a run's name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not the name of a run; list the names with `fslab list`")]
pub struct ParseRunIdError(String);

impl ParseRunIdError {
    /// The error for `text`.
    pub fn of(text: &str) -> Self {
        Self(shortened(text))
    }
}

/// A text of any length, shortened for an error.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(RunId::LENGTH_MAX) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

impl RunId {
    /// Most characters of a name, so that it is a valid file name with an extension.
    pub const LENGTH_MAX: usize = 128;

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for RunId {
    type Err = ParseRunIdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if text.is_empty() || text.len() > Self::LENGTH_MAX || !text.chars().all(plain) {
            return Err(ParseRunIdError::of(text));
        }
        Ok(Self(text.to_owned()))
    }
}

text_type!(RunId, ParseRunIdError, {
    "description": "The name of a run.",
    "type": "string",
    "pattern": "^[a-z0-9-]{1,128}$"
});

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Number of a cell in its plan, from 0.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct CellId(pub u32);

impl CellId {
    /// The cell in this place of its plan.
    pub fn at(place: usize) -> Self {
        Self(u32::try_from(place).unwrap_or(u32::MAX))
    }
}

/// One repeat of a cell: `c0r2` is the third repeat of the first cell.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
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

/// SHA-256 in hexadecimal over the parts of a plan that decide its outcome.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PlanHash(String);

/// The text is not a SHA-256 in hexadecimal.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not the hash of a plan, which has at most 64 hexadecimal digits")]
pub struct ParsePlanHashError(String);

impl PlanHash {
    /// The most digits.
    const DIGITS_MAX: usize = 64;

    /// The hash as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The first twelve digits, for display.
    pub fn short(&self) -> &str {
        self.0.get(..12).unwrap_or(&self.0)
    }
}

impl FromStr for PlanHash {
    type Err = ParsePlanHashError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let digit = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
        if text.is_empty() || text.len() > Self::DIGITS_MAX || !text.chars().all(digit) {
            return Err(ParsePlanHashError(shortened(text)));
        }
        Ok(Self(text.to_owned()))
    }
}

text_type!(PlanHash, ParsePlanHashError, {
    "description": "SHA-256 of a plan in hexadecimal digits.",
    "type": "string",
    "pattern": "^[0-9a-f]{1,64}$"
});

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

    /// A run `"a/b"` of an imported document was stored, and the store could not be listed any
    /// more: names in documents were not validated like typed ones.
    #[test]
    fn ids_in_a_document_are_held_to_the_rules_of_typed_ones() {
        let run = |text: &str| serde_json::from_value::<RunId>(text.into());
        let hash = |text: &str| serde_json::from_value::<PlanHash>(text.into());
        assert_eq!(run("a-1").map(String::from).ok().as_deref(), Some("a-1"));
        assert_eq!(hash("0af").map(String::from).ok().as_deref(), Some("0af"));
        let long = "a".repeat(RunId::LENGTH_MAX + 1);
        for bad in ["", "a/b", "..", "a b", "A", "a\u{1b}[m", "\u{202e}a", &long] {
            let error = run(bad).expect_err(bad).to_string();
            assert!(error.len() < 2 * RunId::LENGTH_MAX, "{error}");
            assert!(hash(bad).is_err(), "{bad}");
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
