//! Failures of the conformance suite: kind, message, cause.

use std::fmt;
use std::io;
use std::path::Path;

use fslab_model::{Failure, FailureKind};

/// Why a conformance phase ended early.
///
/// Kinds: `Io` (or one that the errno suggests) for a failed call, `Corrupt` for content that is
/// not as written, `Check` for a difference from the catalogue entry.
#[derive(Debug)]
pub struct ConformanceFailure(Box<Details>);

#[derive(Debug)]
struct Details {
    kind: FailureKind,
    message: String,
    hint: Option<&'static str>,
    source: Option<io::Error>,
}

impl ConformanceFailure {
    /// `operation` on `path` failed.
    pub(crate) fn io(operation: &str, path: &Path, source: io::Error) -> Self {
        let kind = FailureKind::from(&source);
        Self::new(
            kind,
            format!("cannot {operation} {}", path.display()),
            Some(source),
        )
    }

    /// `path` is not as written; `what` is the predicate of the sentence.
    pub(crate) fn corrupt(path: &Path, what: impl fmt::Display) -> Self {
        let message = format!("{} {what}", path.display());
        Self::new(FailureKind::Corrupt, message, None)
    }

    /// The file system does less or more than its entry says.
    pub(crate) fn against_entry(message: impl Into<String>) -> Self {
        let mut problem = Self::new(FailureKind::Check, message.into(), None);
        problem.0.hint =
            Some("either the driver has a fault, or the entry of the catalogue is wrong");
        problem
    }

    /// Space is missing that should be free.
    pub(crate) fn no_room(message: impl Into<String>) -> Self {
        Self::new(FailureKind::NoSpace, message.into(), None)
    }

    /// A stop was requested.
    pub(crate) fn interrupted() -> Self {
        let message = "interrupted in a conformance phase";
        Self::new(FailureKind::Interrupted, message.into(), None)
    }

    /// Adds the part of the suite.
    #[must_use]
    pub(crate) fn during(mut self, part: &str) -> Self {
        self.0.message = format!("{part}: {}", self.0.message);
        self
    }

    fn new(kind: FailureKind, message: String, source: Option<io::Error>) -> Self {
        Self(Box::new(Details {
            kind,
            message,
            hint: None,
            source,
        }))
    }

    /// The kind.
    #[must_use]
    pub fn kind(&self) -> FailureKind {
        self.0.kind
    }
}

impl fmt::Display for ConformanceFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for ConformanceFailure {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_ref().map(|source| source as _)
    }
}

impl From<ConformanceFailure> for Failure {
    fn from(problem: ConformanceFailure) -> Self {
        let failure = Self::of_error(problem.kind(), &problem);
        failure.with_hint(problem.0.hint.map(str::to_owned))
    }
}
