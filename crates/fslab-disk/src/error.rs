//! Why there is no disk.

use std::io;
use std::path::PathBuf;

use fslab_model::{Failure, FailureKind, TomlError};

/// Why there is no disk.
#[derive(Debug, thiserror::Error)]
pub enum DiskError {
    /// No profile has this name.
    #[error("there is no disk profile '{name}'")]
    NoProfile {
        /// What was asked for.
        name: String,
        /// The name that was most likely meant.
        nearest: Option<&'static str>,
    },
    /// The file of a profile cannot be read.
    #[error("cannot read the disk profile {path}", path = .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The text of a profile is wrong.
    #[error("cannot use the disk profile {file}")]
    Profile {
        /// The file, or the name of a built-in profile.
        file: String,
        /// What is wrong.
        source: TomlError,
    },
    /// The model refuses the parameters.
    #[error("cannot make the disk {name}: the model says: {reason}")]
    Model {
        /// The profile's name.
        name: String,
        /// The model's sentence.
        reason: String,
    },
}

impl DiskError {
    /// What the user may do about it.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NoProfile {
                nearest: Some(nearest),
                ..
            } => Some(format!("did you mean '{nearest}'?")),
            Self::NoProfile { .. } => Some(
                "fslab disk list names them all; a file is named with its path, such as ./my.toml"
                    .to_owned(),
            ),
            Self::Profile { source, .. } => source.hint.clone(),
            Self::Read { .. } | Self::Model { .. } => None,
        }
    }
}

impl From<DiskError> for Failure {
    fn from(error: DiskError) -> Self {
        let kind = match &error {
            DiskError::Read { source, .. } if source.kind() == io::ErrorKind::PermissionDenied => {
                FailureKind::Permission
            }
            _ => FailureKind::BadInput,
        };
        Self::of_error(kind, &error).with_hint(error.hint())
    }
}
