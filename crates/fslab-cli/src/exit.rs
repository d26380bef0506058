//! Exit codes, and the error type of the command.

use std::process::ExitCode;

use fslab_format::FormatError;
use fslab_model::{Failure, FailureKind};
use fslab_report::ReportError;
use fslab_run::{ConductorError, ResolveError, ResumeError};
use fslab_store::{StoreError, StoreErrorKind};

/// Exit codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Exit {
    /// The command succeeded.
    Done = 0,
    /// A gate, a claim or the check of a store failed.
    GateFailed = 1,
    /// Invalid arguments, study or store.
    BadInput = 2,
    /// Some trials failed or are missing.
    TrialsFailed = 3,
    /// A tool, a driver, a privilege, or disk space is missing.
    CannotHere = 4,
}

/// The end of every help page: the codes in one line.
pub(crate) const SUMMARY: &str = "Exit codes: 0 done; 1 a gate, a claim or the check of a store \
                                  failed; 2 bad input; 3 some trials failed or are missing; 4 \
                                  this machine cannot do it.";

/// The codes in words, for the manual.
pub(crate) const MEANINGS: [(Exit, &str); 5] = [
    (Exit::Done, "The command succeeded."),
    (
        Exit::GateFailed,
        "A gate, a claim, or the check of a store failed.",
    ),
    (
        Exit::BadInput,
        "Arguments, a study, a file or the store are invalid.",
    ),
    (Exit::TrialsFailed, "Some trials failed or are missing."),
    (
        Exit::CannotHere,
        "A tool, a driver, a privilege or disk space is missing on this machine.",
    ),
];

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Why the command failed: the failure to print, and the exit code.
#[derive(Debug)]
pub(crate) struct CommandError {
    pub(crate) failure: Failure,
    pub(crate) exit: Exit,
}

/// The result of a subcommand.
pub(crate) type CommandResult = Result<Exit, CommandError>;

impl CommandError {
    pub(crate) fn bad_input(message: impl Into<String>) -> Self {
        Failure::new(FailureKind::BadInput, message).into()
    }

    /// An I/O error; `what` names the object and the operation.
    pub(crate) fn io(what: impl Into<String>, error: &std::io::Error) -> Self {
        let kind = match error.kind() {
            std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::ReadOnlyFilesystem => {
                FailureKind::Permission
            }
            std::io::ErrorKind::StorageFull | std::io::ErrorKind::FileTooLarge => {
                FailureKind::NoSpace
            }
            _ => FailureKind::BadInput,
        };
        Failure::new(kind, what).because(error).into()
    }
}

impl From<Failure> for CommandError {
    fn from(failure: Failure) -> Self {
        let exit = match failure.kind {
            FailureKind::BadInput | FailureKind::Protocol => Exit::BadInput,
            FailureKind::MissingTool
            | FailureKind::Unsupported
            | FailureKind::Permission
            | FailureKind::NoSpace
            | FailureKind::Host
            | FailureKind::Device => Exit::CannotHere,
            FailureKind::Format
            | FailureKind::Mount
            | FailureKind::Unmount
            | FailureKind::Io
            | FailureKind::Corrupt
            | FailureKind::Check
            | FailureKind::Crash
            | FailureKind::Timeout
            | FailureKind::Interrupted => Exit::TrialsFailed,
        };
        Self { failure, exit }
    }
}

impl From<StoreError> for CommandError {
    fn from(error: StoreError) -> Self {
        let kind = match error.kind() {
            StoreErrorKind::Permission => FailureKind::Permission,
            StoreErrorKind::NoSpace | StoreErrorKind::FileSizeLimit => FailureKind::NoSpace,
            StoreErrorKind::Busy | StoreErrorKind::Other => FailureKind::Device,
            StoreErrorKind::Missing
            | StoreErrorKind::Foreign
            | StoreErrorKind::Damaged
            | StoreErrorKind::DamagedRun { .. }
            | StoreErrorKind::DamagedTrial { .. }
            | StoreErrorKind::DeletedRun { .. }
            | StoreErrorKind::Newer { .. }
            | StoreErrorKind::NoRuns
            | StoreErrorKind::TooFewRuns { .. }
            | StoreErrorKind::UnknownRun { .. }
            | StoreErrorKind::AmbiguousRun { .. }
            | StoreErrorKind::RunExists { .. }
            | StoreErrorKind::TrialDone { .. }
            | StoreErrorKind::Unreadable { .. }
            | StoreErrorKind::Unstorable { .. } => FailureKind::BadInput,
        };
        let failure = Failure::of_error(kind, &error);
        failure.with_hint(error.hint()).into()
    }
}

impl From<ResolveError> for CommandError {
    fn from(error: ResolveError) -> Self {
        let failure = Failure::of_error(error.kind(), &error);
        failure.with_hint(error.hint()).into()
    }
}

impl From<ResumeError> for CommandError {
    fn from(error: ResumeError) -> Self {
        let failure = Failure::of_error(FailureKind::BadInput, &error);
        failure.hint(error.hint()).into()
    }
}

impl From<ConductorError> for CommandError {
    fn from(error: ConductorError) -> Self {
        match error {
            ConductorError::Store(error) => error.into(),
            ConductorError::Lost(failure) => Self {
                failure,
                exit: Exit::CannotHere,
            },
        }
    }
}

impl From<ReportError> for CommandError {
    fn from(error: ReportError) -> Self {
        Failure::of_error(FailureKind::BadInput, &error).into()
    }
}

impl From<fslab_fs::CatalogueError> for CommandError {
    fn from(error: fslab_fs::CatalogueError) -> Self {
        Failure::from(error).into()
    }
}

impl From<FormatError> for CommandError {
    fn from(error: FormatError) -> Self {
        Failure::from(error).into()
    }
}
