//! Errors of jobs: a failure and its cause.

use std::fmt;
use std::io;
use std::path::Path;

use fslab_model::{Failure, FailureKind};

/// The error of a job. Display names operation and path; the cause is the source.
///
/// Boxed: the loops return one for each operation.
#[derive(Debug)]
pub struct EngineError(Box<Content>);

#[derive(Debug)]
struct Content {
    /// Without causes.
    failure: Failure,
    source: Option<io::Error>,
}

impl EngineError {
    fn new(kind: FailureKind, message: impl Into<String>, source: Option<io::Error>) -> Self {
        let failure = Failure::new(kind, message);
        Self(Box::new(Content { failure, source }))
    }

    /// `operation` on `path` failed with `source`, which determines the kind.
    pub fn io(operation: impl fmt::Display, path: &Path, source: io::Error) -> Self {
        let message = format!("cannot {operation} {}", path.display());
        Self::new(FailureKind::from(&source), message, Some(source))
    }

    /// An invalid job.
    pub fn bad_input(message: impl Into<String>) -> Self {
        Self::new(FailureKind::BadInput, message, None)
    }

    /// A feature that the engine, the kernel or the file system lacks.
    pub(crate) fn unsupported(message: impl Into<String>) -> Self {
        Self::new(FailureKind::Unsupported, message, None)
    }

    /// The stop flag was raised while the job worked on `path`.
    pub fn interrupted(path: &Path) -> Self {
        let message = format!("interrupted while working on {}", path.display());
        Self::new(FailureKind::Interrupted, message, None)
    }

    /// `path` has other contents than were written; `message` says where and what.
    pub fn corrupt(path: &Path, message: impl fmt::Display) -> Self {
        let message = format!("{} has {message}", path.display());
        Self::new(FailureKind::Corrupt, message, None)
    }

    /// An error reported by another process.
    pub(crate) fn from_failure(mut failure: Failure) -> Self {
        let causes = std::mem::take(&mut failure.causes);
        let source = match (failure.errno.take(), causes.is_empty()) {
            (Some(errno), _) => Some(io::Error::from_raw_os_error(errno)),
            (None, false) => Some(io::Error::other(causes.join(": "))),
            (None, true) => None,
        };
        Self(Box::new(Content { failure, source }))
    }

    /// Adds when it happened.
    pub(crate) fn during(mut self, when: &str) -> Self {
        self.0.failure.message.push(' ');
        self.0.failure.message.push_str(when);
        self
    }

    /// Adds a hint.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.0.failure.hint = Some(hint.into());
        self
    }

    /// Adds a hint if what is missing is the file or directory itself.
    pub(crate) fn hint_if_missing(self, hint: &'static str) -> Self {
        let kind = self.0.source.as_ref().map(io::Error::kind);
        match kind {
            Some(io::ErrorKind::NotFound) => self.hint(hint),
            _ => self,
        }
    }

    /// Replaces the kind derived from the errno.
    pub fn of_kind(mut self, kind: FailureKind) -> Self {
        self.0.failure.kind = kind;
        self
    }

    /// Its kind.
    pub fn kind(&self) -> FailureKind {
        self.0.failure.kind
    }

    /// The errno of the cause, if any.
    pub fn errno(&self) -> Option<i32> {
        self.0.source.as_ref().and_then(io::Error::raw_os_error)
    }
}

/// Hint if the file of a phase is missing.
pub(crate) const FILE_MISSING: &str =
    "a phase before it must write the file, such as `write` with the same `file`";
/// Hint if something of a phase's tree is missing.
pub(crate) const TREE_MISSING: &str = "an earlier phase makes the tree: both need the same \
                                       `files`, `files_per_directory` and directory, and no phase \
                                       between them may remove files";

impl fmt::Display for EngineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.failure.message)
    }
}

impl std::error::Error for EngineError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_ref().map(|source| source as _)
    }
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        let Content { failure, source } = *error.0;
        match source {
            Some(source) => failure.because(&source),
            None => failure,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(not(windows))]
    const ERRORS: &[(i32, FailureKind)] = &[
        (28, FailureKind::NoSpace),
        (122, FailureKind::NoSpace),
        (1, FailureKind::Permission),
        (13, FailureKind::Permission),
        (95, FailureKind::Unsupported),
        (38, FailureKind::Unsupported),
        (5, FailureKind::Io),
    ];
    #[cfg(windows)]
    const ERRORS: &[(i32, FailureKind)] = &[
        (112, FailureKind::NoSpace),
        (39, FailureKind::NoSpace),
        (5, FailureKind::Permission),
        (120, FailureKind::Unsupported),
        (1117, FailureKind::Io),
    ];

    #[test]
    fn the_errno_determines_the_kind_and_is_kept_in_a_failure() {
        for &(errno, kind) in ERRORS {
            let source = io::Error::from_raw_os_error(errno);
            let error = EngineError::io("write", Path::new("/a/b"), source).hint("try less");
            assert_eq!(error.kind(), kind, "errno {errno}");
            let failure = Failure::from(error);
            assert_eq!(failure.kind, kind);
            assert_eq!(failure.message, "cannot write /a/b");
            assert_eq!(failure.errno, Some(errno));
            assert_eq!(failure.hint.as_deref(), Some("try less"));
        }
    }

    #[test]
    fn a_hint_for_what_is_missing_is_given_for_that_alone() {
        let hint_of = |kind: io::ErrorKind| {
            let error = EngineError::io("open", Path::new("/a/b"), kind.into());
            Failure::from(error.hint_if_missing("make it")).hint
        };
        assert_eq!(hint_of(io::ErrorKind::NotFound).as_deref(), Some("make it"));
        assert_eq!(hint_of(io::ErrorKind::PermissionDenied), None);
    }
}
