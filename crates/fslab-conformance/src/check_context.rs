//! Counts checks and bytes of a conformance phase, and collects notes.

use std::io;
use std::path::Path;

use fslab_engine::StopFlag;

use super::failure::ConformanceFailure;

/// State of one phase.
#[derive(Clone, Debug, Default)]
pub(crate) struct CheckContext {
    stop: StopFlag,
    pub(crate) checks: u64,
    pub(crate) bytes: u64,
    pub(crate) notes: Vec<String>,
}

impl CheckContext {
    pub(crate) fn new(stop: StopFlag) -> Self {
        Self {
            stop,
            ..Self::default()
        }
    }

    /// Counts a check or operation.
    pub(crate) fn check(&mut self) -> Result<(), ConformanceFailure> {
        self.checks += 1;
        if self.stop.is_raised() {
            return Err(ConformanceFailure::interrupted());
        }
        Ok(())
    }

    /// An operation that must succeed.
    pub(crate) fn must<T>(
        &mut self,
        operation: &str,
        path: &Path,
        outcome: io::Result<T>,
    ) -> Result<T, ConformanceFailure> {
        self.check()?;
        outcome.map_err(|error| ConformanceFailure::io(operation, path, &error))
    }

    /// An optional operation: the inner `Err` describes a refusal.
    pub(crate) fn may<T>(
        &mut self,
        operation: &str,
        path: &Path,
        outcome: io::Result<T>,
    ) -> Result<Result<T, String>, ConformanceFailure> {
        self.check()?;
        match outcome {
            Ok(value) => Ok(Ok(value)),
            Err(error) if is_refusal(&error) => Ok(Err(format!("cannot {operation}: {error}"))),
            Err(error) => Err(ConformanceFailure::io(operation, path, &error)),
        }
    }

    /// A condition that must hold; `otherwise` describes the fault.
    pub(crate) fn demand(
        &mut self,
        is_so: bool,
        path: &Path,
        otherwise: impl FnOnce() -> String,
    ) -> Result<(), ConformanceFailure> {
        self.check()?;
        if is_so {
            return Ok(());
        }
        Err(ConformanceFailure::corrupt(path, otherwise()))
    }

    /// Adds a note once.
    pub(crate) fn note(&mut self, text: impl Into<String>) {
        let text = text.into();
        if !self.notes.contains(&text) {
            self.notes.push(text);
        }
    }
}

/// True for errors that mean "not supported here": EPERM, EOPNOTSUPP, ENOSYS, EINVAL, EMLINK,
/// ENAMETOOLONG, ENODEV, ENOTTY, EFBIG and similar.
pub(crate) fn is_refusal(error: &io::Error) -> bool {
    const ENODEV: i32 = 19;
    const ENOTTY: i32 = 25;
    const EILSEQ: i32 = 84;
    const EOVERFLOW: i32 = 75;
    matches!(
        error.kind(),
        io::ErrorKind::PermissionDenied
            | io::ErrorKind::Unsupported
            | io::ErrorKind::InvalidInput
            | io::ErrorKind::InvalidFilename
            | io::ErrorKind::TooManyLinks
            | io::ErrorKind::FileTooLarge
    ) || matches!(
        error.raw_os_error(),
        Some(ENODEV | ENOTTY | EILSEQ | EOVERFLOW)
    )
}
