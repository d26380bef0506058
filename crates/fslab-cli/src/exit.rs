//! Exit codes, and the one error type of the command.

use std::process::ExitCode;

use fslab_format::FormatError;
use fslab_model::{Failure, FailureKind};
use fslab_report::ReportError;
use fslab_run::{ConductorError, ResolveError, ResumeError};
use fslab_store::{StoreError, StoreErrorKind};

/// How the command ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Exit {
    /// Everything that was asked for is done.
    Done = 0,
    /// A gate, a claim or the check of a store failed.
    GateFailed = 1,
    /// Arguments, a study, or a store that make no sense.
    BadInput = 2,
    /// Some trials failed or are missing.
    TrialsFailed = 3,
    /// A tool, a driver, a privilege, or room is missing.
    CannotHere = 4,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Why the command could not do its work: what is printed, and the exit code.
#[derive(Debug)]
pub(crate) struct CommandError {
    pub(crate) failure: Failure,
    pub(crate) exit: Exit,
}

/// What a subcommand gives.
pub(crate) type CommandResult = Result<Exit, CommandError>;

impl CommandError {
    pub(crate) fn bad_input(message: impl Into<String>) -> Self {
        Failure::new(FailureKind::BadInput, message).into()
    }

    /// An error of reading or writing `what`.
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
        let mut failure = chain(kind, &error);
        failure.hint = error.hint();
        failure.into()
    }
}

impl From<ResolveError> for CommandError {
    fn from(error: ResolveError) -> Self {
        let hint = match &error {
            ResolveError::Catalogue(catalogue) => catalogue.hint(),
            ResolveError::TooSmall {
                enough: Some(enough),
                ..
            } => Some(format!("use --size {} or more", enough.to_argument())),
            ResolveError::TooSmall { enough: None, .. } => Some(
                "they grow with the file system: fill it less, or make them smaller, like \
                 --set phase.NAME.file_size=64MiB"
                    .into(),
            ),
            ResolveError::UnevenSize { nearest, .. } => {
                Some(format!("use --size {}", nearest.to_argument()))
            }
            ResolveError::Phases(phases) => phases.hint(),
            ResolveError::Venue { .. } => {
                Some("`fake` runs alone, and without --venue; the others run elsewhere".into())
            }
            ResolveError::Stages { .. } => {
                Some("leave out age= and fill=, or take another venue".into())
            }
            ResolveError::Disk(disk) => disk.hint(),
            ResolveError::DiskTooSmall { capacity, .. } => Some(format!(
                "use --size {} or less, or a larger --disk",
                capacity.to_argument()
            )),
            ResolveError::Repetition(repetition) => repetition.hint(),
            ResolveError::TooMuch(too_much) => Some(too_much.hint()),
            ResolveError::NoTime => None,
        };
        let mut failure = chain(FailureKind::BadInput, &error);
        failure.hint = hint;
        failure.into()
    }
}

impl From<ResumeError> for CommandError {
    fn from(error: ResumeError) -> Self {
        let hint = match &error {
            ResumeError::Seed { .. } => {
                "leave out --seed, or leave out --resume to begin a new run"
            }
            ResumeError::Dimension { .. } | ResumeError::Device { .. } => {
                "its trials would not compare; leave out --resume to begin a new run"
            }
        };
        chain(FailureKind::BadInput, &error).hint(hint).into()
    }
}

impl From<ConductorError> for CommandError {
    fn from(error: ConductorError) -> Self {
        match error {
            ConductorError::Store(error) => error.into(),
            ConductorError::Lost(mut failure) => {
                let resume = "with the device of before, the same command with --resume does what \
                              is missing";
                failure.hint.get_or_insert_with(|| resume.into());
                Self {
                    failure,
                    exit: Exit::CannotHere,
                }
            }
        }
    }
}

impl From<ReportError> for CommandError {
    fn from(error: ReportError) -> Self {
        chain(FailureKind::BadInput, &error).into()
    }
}

impl From<fslab_fs::CatalogueError> for CommandError {
    fn from(error: fslab_fs::CatalogueError) -> Self {
        Failure::from(error).into()
    }
}

impl From<FormatError> for CommandError {
    fn from(error: FormatError) -> Self {
        let kind = match &error {
            FormatError::Io { source, .. } => match source.kind() {
                std::io::ErrorKind::PermissionDenied => FailureKind::Permission,
                std::io::ErrorKind::StorageFull => FailureKind::NoSpace,
                std::io::ErrorKind::NotFound | std::io::ErrorKind::AlreadyExists => {
                    FailureKind::BadInput
                }
                _ => FailureKind::Device,
            },
            FormatError::Unknown { .. }
            | FormatError::TooSmall { .. }
            | FormatError::TooLarge { .. }
            | FormatError::BadOption { .. } => FailureKind::BadInput,
        };
        let mut failure = chain(kind, &error);
        failure.hint = error.hint();
        failure.into()
    }
}

/// The error's message, then its causes.
fn chain(kind: FailureKind, error: &(dyn std::error::Error + 'static)) -> Failure {
    let failure = Failure::new(kind, error.to_string());
    match error.source() {
        Some(source) => failure.because(source),
        None => failure,
    }
}
