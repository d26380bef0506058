//! Failures of workloads that run programs.

use std::fmt;
use std::io;
use std::path::Path;

use fslab_model::{Failure, FailureKind};
use fslab_sys::GroupEnd;

/// The message of ENOSPC in the locale of the programs.
const FULL: &str = "No space left on device";

/// Why a program's phase ended early.
///
/// Kinds: `MissingTool` for a missing program, `NoSpace` if its output says so, `Timeout` and
/// `Interrupted` if it was ended, `Corrupt` for a wrong result, `BadInput` for what was not
/// allowed, else `Io`.
#[derive(Debug)]
pub struct ProgramError(Box<Details>);

#[derive(Debug)]
struct Details {
    kind: FailureKind,
    message: String,
    hint: Option<String>,
    /// The program's output; may be empty.
    output: String,
    source: Option<io::Error>,
}

impl ProgramError {
    /// `operation` on `path` failed.
    pub(crate) fn io(operation: &str, path: &Path, source: io::Error) -> Self {
        let kind = FailureKind::from(&source);
        let mut error = Self::new(kind, format!("cannot {operation} {}", path.display()));
        error.0.source = Some(source);
        error
    }

    /// The program `command` could not be started.
    pub(crate) fn start(command: &str, source: io::Error) -> Self {
        let kind = match source.kind() {
            io::ErrorKind::NotFound => FailureKind::MissingTool,
            io::ErrorKind::PermissionDenied => FailureKind::Permission,
            _ => FailureKind::Io,
        };
        let mut error = Self::new(kind, format!("cannot start `{command}`"));
        error.0.source = Some(source);
        if kind == FailureKind::MissingTool {
            let places = fslab_sys::PLAIN_PATH;
            error.0.hint = Some(format!("programs are looked for in {places}"));
        }
        error
    }

    /// The program `command` did not end with the status `wanted`.
    pub(crate) fn ended(command: &str, end: &GroupEnd, wanted: i32) -> Self {
        let how = end.how();
        let message = match wanted {
            0 => format!("`{command}` ended with {how}"),
            _ => format!("`{command}` ended with {how}, not with status {wanted}"),
        };
        let kind = if end.output.contains(FULL) {
            FailureKind::NoSpace
        } else {
            FailureKind::Io
        };
        Self::new(kind, message).printed(&end.output)
    }

    /// The program `command` took longer than it may.
    pub(crate) fn too_long(command: &str, limit_s: u32) -> Self {
        let message = format!("`{command}` exceeded its limit of {limit_s} s and was killed");
        Self::new(FailureKind::Timeout, message)
    }

    /// A stop was requested while `what` ran.
    pub(crate) fn interrupted(what: &str) -> Self {
        Self::new(
            FailureKind::Interrupted,
            format!("interrupted while `{what}` ran"),
        )
    }

    /// A wrong result.
    pub(crate) fn wrong(message: impl Into<String>) -> Self {
        Self::new(FailureKind::Corrupt, message.into())
    }

    /// A study requests what is not allowed.
    pub(crate) fn refused(message: String) -> Self {
        Self::new(FailureKind::BadInput, message)
    }

    /// Another failure.
    pub(crate) fn other(message: impl Into<String>) -> Self {
        Self::new(FailureKind::Io, message.into())
    }

    /// Adds a program's output.
    #[must_use]
    pub(crate) fn printed(mut self, output: &str) -> Self {
        output.trim_end().clone_into(&mut self.0.output);
        self
    }

    /// Adds advice.
    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    fn new(kind: FailureKind, message: String) -> Self {
        Self(Box::new(Details {
            kind,
            message,
            hint: None,
            output: String::new(),
            source: None,
        }))
    }

    /// The kind.
    #[must_use]
    pub fn kind(&self) -> FailureKind {
        self.0.kind
    }
}

impl fmt::Display for ProgramError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for ProgramError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_ref().map(|source| source as _)
    }
}

impl From<ProgramError> for Failure {
    fn from(error: ProgramError) -> Self {
        let mut failure = Self::of_error(error.kind(), &error);
        if !error.0.output.is_empty() {
            failure
                .causes
                .push(format!("it printed: {}", error.0.output));
        }
        failure.with_hint(error.0.hint)
    }
}
