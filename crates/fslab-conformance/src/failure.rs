//! Failures of the conformance suite: kind, message, cause.

use std::fmt;
use std::io;
use std::path::Path;

use fslab_job::RunError;
use fslab_model::{Failure, FailureKind};

/// Why a conformance phase ended early.
///
/// Kinds: `Io` (or one that the errno suggests) for a failed call, `Corrupt` for content that is
/// not as written, `Check` for a difference from the catalogue entry.
#[derive(Debug)]
pub(crate) struct ConformanceFailure(pub(crate) Failure);

impl ConformanceFailure {
    /// `operation` on `path` failed.
    pub(crate) fn io(operation: &str, path: &Path, source: &io::Error) -> Self {
        let kind = FailureKind::from(source);
        Self(Failure::at(kind, operation, path, source))
    }

    /// `path` is not as written; `what` is the predicate of the sentence.
    pub(crate) fn corrupt(path: &Path, what: impl fmt::Display) -> Self {
        let message = format!("{} {what}", path.display());
        Self(Failure::new(FailureKind::Corrupt, message))
    }

    /// The file system does less or more than its entry says.
    pub(crate) fn against_entry(message: impl Into<String>) -> Self {
        let hint = "either the driver has a fault, or the entry of the catalogue is wrong";
        Self(Failure::new(FailureKind::Check, message).hint(hint))
    }

    /// Space is missing that should be free.
    pub(crate) fn no_room(message: impl Into<String>) -> Self {
        Self(Failure::new(FailureKind::NoSpace, message))
    }

    /// A stop was requested.
    pub(crate) fn interrupted() -> Self {
        let message = "interrupted in a conformance phase";
        Self(Failure::new(FailureKind::Interrupted, message))
    }

    /// Adds the part of the suite.
    pub(crate) fn during(mut self, part: &str) -> Self {
        self.0.message = format!("{part}: {}", self.0.message);
        self
    }
}

impl From<ConformanceFailure> for RunError {
    fn from(failure: ConformanceFailure) -> Self {
        Self::Failed(failure.0)
    }
}
