//! Errors of profiles and simulated disks.

use std::io;
use std::path::PathBuf;

use fslab_model::{Failure, FailureKind, TomlError, did_you_mean};

/// A profile that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DiskError {
    /// No definition has this name.
    #[error("there is no {what} '{name}'")]
    Unknown {
        /// `disk profile` or `machine`.
        what: &'static str,
        /// The requested name.
        name: String,
        /// The nearest known name.
        nearest: Option<&'static str>,
        /// The command that lists the known ones.
        list: &'static str,
    },
    /// A file cannot be read.
    #[error("cannot read the {what} {path}", path = .path.display())]
    Read {
        /// `disk profile` or `machine`.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The text of a profile or of a machine is invalid.
    #[error("cannot use the {what} {file}")]
    Invalid {
        /// `disk profile` or `machine`.
        what: &'static str,
        /// The file, or the name of a built-in profile.
        file: String,
        /// The error, with its position.
        source: Box<TomlError>,
    },
    /// The model refuses the parameters.
    #[error("cannot create the simulated disk {name}: {reason}")]
    Model {
        /// The profile's name.
        name: String,
        /// The model's message.
        reason: String,
    },
}

impl DiskError {
    /// Advice for the user.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Unknown {
                nearest: Some(nearest),
                ..
            } => Some(did_you_mean(nearest)),
            Self::Unknown { what, list, .. } => Some(format!(
                "{list} shows each {what}; name a file by its path, such as ./my.toml"
            )),
            Self::Invalid { source, .. } => source.hint.clone(),
            Self::Read { .. } | Self::Model { .. } => None,
        }
    }
}

impl From<DiskError> for Failure {
    fn from(error: DiskError) -> Self {
        let kind = match &error {
            DiskError::Read { source, .. } => {
                FailureKind::of_users_file(source, FailureKind::BadInput)
            }
            _ => FailureKind::BadInput,
        };
        Self::of_error(kind, &error).with_hint(error.hint())
    }
}
