//! Errors of formatting a volume.

use std::io;
use std::path::PathBuf;

use fslab_model::{Bytes, Failure, FailureKind, did_you_mean};

/// Why a volume was not formatted.
#[derive(Debug, thiserror::Error)]
pub enum FormatError {
    /// No formatter has this name.
    #[error("fslab has no formatter '{name}'")]
    Unknown {
        name: String,
        /// The most similar name.
        nearest: Option<&'static str>,
    },
    /// The volume is smaller than the smallest valid one.
    #[error("{size} is too small for {format}, which needs {minimum}")]
    TooSmall {
        /// The formatter.
        format: &'static str,
        /// The volume's size.
        size: Bytes,
        /// The smallest size with these options.
        minimum: Bytes,
    },
    /// The volume is larger than its structures can describe.
    #[error("{size} is too large for {format}, which ends at {maximum}")]
    TooLarge {
        /// The formatter.
        format: &'static str,
        /// The volume's size.
        size: Bytes,
        /// The largest size with these options.
        maximum: Bytes,
    },
    /// An option that the format does not have, or an invalid value.
    #[error("cannot use the {option} '{value}' with {format}: {reason}")]
    BadOption {
        /// The formatter.
        format: &'static str,
        /// `label` or `block size`.
        option: &'static str,
        /// The value given.
        value: String,
        /// The reason, a fragment.
        reason: String,
    },
    /// The volume cannot be opened, read or written.
    #[error("cannot {operation} {path}", path = .path.display())]
    Io {
        /// `open`, `create`, `write`, `sync`.
        operation: &'static str,
        /// The volume.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
}

impl FormatError {
    /// What the user can do.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Unknown {
                nearest: Some(nearest),
                ..
            } => Some(did_you_mean(nearest)),
            Self::Unknown { nearest: None, .. } => {
                Some("fslab mkfs --list names them all".to_owned())
            }
            Self::TooSmall { minimum, .. } => {
                Some(format!("use --size {} or more", minimum.to_argument()))
            }
            Self::TooLarge { maximum, .. } => {
                Some(format!("use --size {} or less", maximum.to_argument()))
            }
            Self::BadOption { .. } | Self::Io { .. } => None,
        }
    }
}

impl From<FormatError> for Failure {
    fn from(error: FormatError) -> Self {
        let kind = match &error {
            FormatError::Io { source, .. } => match source.kind() {
                io::ErrorKind::NotFound | io::ErrorKind::AlreadyExists => FailureKind::BadInput,
                _ => FailureKind::of_users_file(source, FailureKind::Device),
            },
            FormatError::Unknown { .. }
            | FormatError::TooSmall { .. }
            | FormatError::TooLarge { .. }
            | FormatError::BadOption { .. } => FailureKind::BadInput,
        };
        Self::of_error(kind, &error).with_hint(error.hint())
    }
}
