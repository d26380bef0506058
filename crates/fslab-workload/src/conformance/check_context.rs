//! What a conformance phase counts while it works: checks, bytes, and remarks for the reader.

use std::io;
use std::path::Path;

use fslab_engine::StopFlag;

use super::failure::ConformanceFailure;

/// The count of one phase.
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

    /// One check or operation more.
    ///
    /// # Errors
    /// Where somebody asked the trial to stop.
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
        outcome.map_err(|error| ConformanceFailure::io(operation, path, error))
    }

    /// An operation that a file system may not have: `Err` holds its words.
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
            Err(error) => Err(ConformanceFailure::io(operation, path, error)),
        }
    }

    /// Something that must be so.
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

    /// A remark for the phase's record, once.
    pub(crate) fn note(&mut self, text: impl Into<String>) {
        let text = text.into();
        if !self.notes.contains(&text) {
            self.notes.push(text);
        }
    }
}

/// An answer that means "not on this file system", as opposed to trouble: EPERM, EOPNOTSUPP,
/// ENOSYS, EINVAL, EMLINK, ENAMETOOLONG, ENODEV, ENOTTY, EFBIG and their like.
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
