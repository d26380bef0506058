//! What a guest reported of a case, and the words for what it was.

use std::fmt::{self, Display, Formatter};

use crate::{FaultyReport, StateOutcome, StatePart};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::faults::PlanResult;

/// How a guest kernel ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KernelEnd {
    /// It ended, with its last errors.
    Died(StatePart, String),
    /// It did not answer within the limit.
    Hung(StatePart),
}

impl Display for KernelEnd {
    fn fmt(&self, out: &mut Formatter) -> fmt::Result {
        match self {
            Self::Died(part, words) => {
                write!(out, "the kernel died in the {}: {words}", part.as_str())
            }
            Self::Hung(part) => write!(out, "the kernel hangs in the {}", part.as_str()),
        }
    }
}

/// What a guest reported of a case.
#[derive(Clone, Debug, PartialEq)]
pub struct CaseOutcome {
    /// What was seen while the disk failed; empty if the kernel ended.
    pub report: FaultyReport,
    /// How the kernel ended while the disk failed.
    pub ended: Option<KernelEnd>,
    /// What the disk counted.
    pub counted: PlanResult,
    /// What was left; `None` only while a case is done.
    pub state: Option<StateOutcome>,
}

/// How applications or the kernel noticed a fault.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Detection {
    /// Not at all.
    Nothing,
    /// The kernel wrote an error to its log, and applications saw none.
    Log,
    /// An application saw this error.
    Errno(String),
    /// The kernel ended or hung.
    Kernel,
}

/// What a file system did about a fault.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Recovery {
    /// It went on.
    GoesOn,
    /// It did not mount.
    RefusesMount,
    /// It is read-only since then: mounted so, or another write ends with EROFS.
    ReadOnly,
    /// Another write ends with another error.
    Stops,
    /// The kernel ended.
    Panic,
    /// The kernel hung.
    Hang,
}

/// What is left when the disk does not fail any more, after a repair where one was needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Aftermath {
    /// Everything that was synced without an error.
    Intact,
    /// The same, after a repair.
    Repaired,
    /// Some of what was synced without an error is gone or wrong.
    Lost,
    /// The checker finds errors, and there is no repair.
    Damaged,
    /// It does not mount.
    Unmountable,
}
