//! Errors of jobs: kind, path, operation and cause.

use std::borrow::Cow;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use fslab_model::{Failure, FailureKind};

/// The error of a job. Display names operation and path; the cause is the source.
#[derive(Debug)]
pub struct EngineError(Box<Content>);

#[derive(Debug)]
struct Content {
    kind: FailureKind,
    operation: Cow<'static, str>,
    path: Option<PathBuf>,
    message: String,
    hint: Option<Cow<'static, str>>,
    source: Option<io::Error>,
}

impl EngineError {
    /// `operation` on `path` failed with `source`, which determines the kind.
    pub fn io(operation: impl Into<Cow<'static, str>>, path: &Path, source: io::Error) -> Self {
        let operation = operation.into();
        Self(Box::new(Content {
            kind: FailureKind::from(&source),
            message: format!("cannot {operation} {}", path.display()),
            operation,
            path: Some(path.to_owned()),
            hint: None,
            source: Some(source),
        }))
    }

    /// An invalid job.
    pub fn bad_input(message: impl Into<String>) -> Self {
        Self::plain(FailureKind::BadInput, "check the job", None, message.into())
    }

    /// A feature that the engine, the kernel or the file system lacks.
    pub(crate) fn unsupported(message: impl Into<String>) -> Self {
        Self::plain(
            FailureKind::Unsupported,
            "start the job",
            None,
            message.into(),
        )
    }

    /// The stop flag was raised while the job worked on `path`.
    pub fn interrupted(path: &Path) -> Self {
        let message = format!("interrupted while working on {}", path.display());
        Self::plain(FailureKind::Interrupted, "go on", Some(path), message)
    }

    /// `path` has other contents than were written; `message` says where and what.
    pub fn corrupt(path: &Path, message: impl fmt::Display) -> Self {
        let message = format!("{} has {message}", path.display());
        Self::plain(FailureKind::Corrupt, "verify", Some(path), message)
    }

    /// An error reported by another process.
    pub(crate) fn from_failure(failure: Failure) -> Self {
        let source = match (failure.errno, failure.causes.is_empty()) {
            (Some(errno), _) => Some(io::Error::from_raw_os_error(errno)),
            (None, false) => Some(io::Error::other(failure.causes.join(": "))),
            (None, true) => None,
        };
        Self(Box::new(Content {
            kind: failure.kind,
            operation: "run in a process".into(),
            path: None,
            message: failure.message,
            hint: failure.hint.map(Cow::Owned),
            source,
        }))
    }

    /// Adds when it happened.
    pub(crate) fn during(mut self, when: &str) -> Self {
        self.0.message.push(' ');
        self.0.message.push_str(when);
        self
    }

    /// Adds a hint.
    pub fn hint(mut self, hint: impl Into<Cow<'static, str>>) -> Self {
        self.0.hint = Some(hint.into());
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
        self.0.kind = kind;
        self
    }

    fn plain(
        kind: FailureKind,
        operation: &'static str,
        path: Option<&Path>,
        message: String,
    ) -> Self {
        Self(Box::new(Content {
            kind,
            operation: operation.into(),
            path: path.map(Path::to_owned),
            message,
            hint: None,
            source: None,
        }))
    }

    pub fn kind(&self) -> FailureKind {
        self.0.kind
    }

    /// The file or directory.
    pub fn path(&self) -> Option<&Path> {
        self.0.path.as_deref()
    }

    /// The operation that failed, such as `read`, `create` or `fsync`.
    pub fn operation(&self) -> &str {
        &self.0.operation
    }

    /// The errno of a failed system call.
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
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for EngineError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_ref().map(|source| source as _)
    }
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        let failure = Self::of_error(error.kind(), &error);
        failure.with_hint(error.0.hint.map(Cow::into_owned))
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
            assert_eq!(error.path(), Some(Path::new("/a/b")));
            assert_eq!(error.operation(), "write");
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
