//! Why a workload that is a program did not come to its end.

use std::fmt;
use std::io;
use std::path::Path;

use fslab_model::{Failure, FailureKind};
use fslab_sys::GroupEnd;

/// The words of a file system that is full, in the locale in which programs run here.
const FULL: &str = "No space left on device";

/// Why a program's phase ended early.
///
/// Its kinds: `MissingTool` for a program that is not there, `NoSpace` where it said so, `Timeout`
/// and `Interrupted` where it was ended, `Corrupt` for a wrong result, `BadInput` for what was not
/// allowed, else `Io`.
#[derive(Debug)]
pub struct ProgramError(Box<Details>);

#[derive(Debug)]
struct Details {
    kind: FailureKind,
    message: String,
    hint: Option<String>,
    /// What the program printed; empty where nothing was.
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

    /// The program `command` ended otherwise than it must; `wanted` is the status that it must
    /// have.
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
        let message = format!("`{command}` passed its limit of {limit_s} s, and was killed");
        Self::new(FailureKind::Timeout, message)
    }

    /// Somebody asked the trial to stop while `what` was at work.
    pub(crate) fn interrupted(what: &str) -> Self {
        Self::new(
            FailureKind::Interrupted,
            format!("interrupted while `{what}` was at work"),
        )
    }

    /// A result is not what it must be.
    pub(crate) fn wrong(message: impl Into<String>) -> Self {
        Self::new(FailureKind::Corrupt, message.into())
    }

    /// A study asks for what it was not allowed.
    pub(crate) fn refused(message: String) -> Self {
        Self::new(FailureKind::BadInput, message)
    }

    /// Something else that failed.
    pub(crate) fn other(message: impl Into<String>) -> Self {
        Self::new(FailureKind::Io, message.into())
    }

    /// With what a program printed.
    #[must_use]
    pub(crate) fn printed(mut self, output: &str) -> Self {
        output.trim_end().clone_into(&mut self.0.output);
        self
    }

    /// With advice.
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

    /// The kind, to be matched.
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
        let mut failure = Self::new(error.kind(), error.to_string());
        if let Some(source) = &error.0.source {
            failure = failure.because(source);
        }
        if !error.0.output.is_empty() {
            failure
                .causes
                .push(format!("it printed: {}", error.0.output));
        }
        failure.hint = error.0.hint;
        failure
    }
}
