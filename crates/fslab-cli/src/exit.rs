//! Exit codes, and the error type of the command.

use std::process::ExitCode;

use fslab_model::{Failure, FailureKind};

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
        Failure::of_users_file(what, error).into()
    }
}

impl<E: Into<Failure>> From<E> for CommandError {
    fn from(error: E) -> Self {
        let failure = error.into();
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
