//! Why a claim, or a part of it, has no number.

use crate::ClaimOutcome;

/// The reason, a fragment, with the outcome that follows from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum MissingReason {
    /// The claim is about a subject or a platform that the run does not have.
    NotApplicable(String),
    /// The run has them, and no figure of them.
    NotMeasured(String),
}

impl MissingReason {
    pub(crate) fn outcome(&self) -> ClaimOutcome {
        match self {
            Self::NotApplicable(_) => ClaimOutcome::NotApplicable,
            Self::NotMeasured(_) => ClaimOutcome::NotMeasured,
        }
    }

    pub(crate) fn into_text(self) -> String {
        match self {
            Self::NotApplicable(text) | Self::NotMeasured(text) => text,
        }
    }
}

impl From<String> for MissingReason {
    fn from(text: String) -> Self {
        Self::NotMeasured(text)
    }
}

impl From<&str> for MissingReason {
    fn from(text: &str) -> Self {
        Self::NotMeasured(text.to_owned())
    }
}
