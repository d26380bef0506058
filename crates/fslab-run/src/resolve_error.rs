//! Why a study cannot be resolved.

use fslab_model::{Bytes, Failure, FailureKind};

use crate::bounds::TooMuchError;
use crate::kernels::KernelError;
use crate::phases::PhasesError;
use crate::repetition::RepetitionError;

/// Why a study cannot be planned.
#[derive(Debug, thiserror::Error)]
pub enum ResolveError {
    /// An invalid subject, option or size.
    #[error(transparent)]
    Catalogue(#[from] Failure),
    /// Invalid phases or sizes of the study.
    #[error(transparent)]
    Phases(#[from] PhasesError),
    /// The files do not fit.
    #[error(
        "the files of the study '{study}' take {needed}, more than {}{size}",
        left(*taken_percent)
    )]
    TooSmall {
        study: String,
        /// Most space that the phases use.
        needed: Bytes,
        /// Size of the file system.
        size: Bytes,
        /// Share of it that the stages of the fullest subject fill.
        taken_percent: u8,
        /// Sufficient size; `None` if the files grow with it and never fit.
        enough: Option<Bytes>,
    },
    /// Invalid repetition.
    #[error(transparent)]
    Repetition(#[from] RepetitionError),
    /// Too many subjects, trials or records.
    #[error(transparent)]
    TooMuch(#[from] TooMuchError),
    /// A time limit of zero.
    #[error("the time limit of a trial is 0 s; there must be at least 1 s")]
    NoTime,
    /// An invalid simulated disk.
    #[error(transparent)]
    Disk(Failure),
    /// A file system larger than its disk.
    #[error("the disk '{disk}' has {capacity}, less than the size of {size}")]
    DiskTooSmall {
        /// The disk profile.
        disk: String,
        capacity: Bytes,
        /// The size requested.
        size: Bytes,
    },
    /// A subject that the venue does not support.
    #[error("the subject '{subject}' cannot run in the venue '{venue}'")]
    Venue {
        subject: String,
        venue: &'static str,
    },
    /// A subject's kernel that the venue does not have.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// Neither loop devices nor a guest.
    #[error("cannot format and mount file systems: {reason}, and there is no lab for a guest")]
    NoVenue {
        /// Why not in the venue `loop`.
        reason: &'static str,
    },
    /// Directories that cannot be measured together, or subjects that are not in them.
    #[error(transparent)]
    Directory(Failure),
}

impl ResolveError {
    /// Kind of the failure: bad input, or a venue that this machine does not have.
    pub(crate) fn kind(&self) -> FailureKind {
        match self {
            Self::NoVenue { .. } => FailureKind::Unsupported,
            Self::Directory(failure) => failure.kind,
            _ => FailureKind::BadInput,
        }
    }

    pub(crate) fn hint(&self) -> Option<String> {
        match self {
            Self::Catalogue(failure) | Self::Disk(failure) | Self::Directory(failure) => {
                failure.hint.clone()
            }
            Self::TooSmall {
                enough: Some(enough),
                ..
            } => Some(format!("use --size {} or more", enough.to_argument())),
            Self::TooSmall { enough: None, .. } => Some(
                "fill the file system less, or make the files smaller, for example --set \
                 phase.NAME.file_size=64MiB; they grow with the file system"
                    .into(),
            ),
            Self::Phases(phases) => phases.hint(),
            Self::Venue { .. } => Some(
                "measure `fake` separately and without --venue, and the other subjects in \
                      another venue"
                    .into(),
            ),
            Self::Kernel(kernel) => Some(kernel.hint()),
            Self::DiskTooSmall { capacity, .. } => Some(format!(
                "use --size {} or less, or a larger --disk",
                capacity.to_argument()
            )),
            Self::Repetition(repetition) => repetition.hint(),
            Self::TooMuch(too_much) => Some(too_much.hint()),
            Self::NoVenue { .. } => Some(
                "build a lab once with `fslab lab build`, which needs no privileges; or measure \
                 what is mounted at a directory with --dir DIR"
                    .into(),
            ),
            Self::NoTime => None,
        }
    }
}

impl From<ResolveError> for Failure {
    fn from(error: ResolveError) -> Self {
        match error {
            ResolveError::Directory(failure) => failure,
            // A study that asks for what is missing is bad input, whatever it is.
            ResolveError::Catalogue(failure) | ResolveError::Disk(failure) => Self {
                kind: FailureKind::BadInput,
                ..failure
            },
            error => Self::of_error(error.kind(), &error).with_hint(error.hint()),
        }
    }
}

/// Text for the available size, if stages fill a part.
pub(super) fn left(taken_percent: u8) -> String {
    match taken_percent {
        0 => "the size of ".to_owned(),
        taken => format!("a subject that is {taken} % full leaves of "),
    }
}
