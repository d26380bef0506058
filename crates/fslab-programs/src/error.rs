//! Failures of jobs that run programs.

use std::io;
use std::path::Path;

use fslab_job::RunError;
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
pub(crate) struct ProgramError(pub(crate) Failure);

impl ProgramError {
    /// `operation` on `path` failed.
    pub(crate) fn io(operation: &str, path: &Path, source: &io::Error) -> Self {
        let kind = FailureKind::from(source);
        Self(Failure::at(kind, operation, path, source))
    }

    /// The program `command` could not be started.
    pub(crate) fn start(command: &str, source: &io::Error) -> Self {
        let kind = match source.kind() {
            io::ErrorKind::NotFound => FailureKind::MissingTool,
            io::ErrorKind::PermissionDenied => FailureKind::Permission,
            _ => FailureKind::Io,
        };
        let error = Self::new(kind, format!("cannot start `{command}`"));
        let error = Self(error.0.because(source));
        match kind {
            FailureKind::MissingTool => {
                let places = fslab_sys::PLAIN_PATH;
                error.hint(format!("programs are searched for in {places}"))
            }
            _ => error,
        }
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
        Self::new(FailureKind::Corrupt, message)
    }

    /// A study requests what is not allowed.
    pub(crate) fn refused(message: String) -> Self {
        Self::new(FailureKind::BadInput, message)
    }

    /// Another failure.
    pub(crate) fn other(message: impl Into<String>) -> Self {
        Self::new(FailureKind::Io, message)
    }

    /// Adds a program's output, if any.
    pub(crate) fn printed(mut self, output: &str) -> Self {
        let output = output.trim_end();
        if !output.is_empty() {
            self.0.causes.push(format!("it printed: {output}"));
        }
        self
    }

    /// Adds advice.
    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        Self(self.0.hint(hint))
    }

    fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self(Failure::new(kind, message))
    }
}

impl From<ProgramError> for RunError {
    fn from(error: ProgramError) -> Self {
        Self::Program(error.0)
    }
}
