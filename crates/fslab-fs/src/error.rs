//! Errors of the catalogue.

use std::io;
use std::path::PathBuf;

use fslab_model::{
    Bytes, Failure, FailureKind, ParseSubjectError, Protocol, Subject, did_you_mean,
};

use crate::Tool;

/// Why the catalogue refused a request.
#[derive(Debug, thiserror::Error)]
pub enum CatalogueError {
    /// No entry has this name.
    #[error("the catalogue has no file system '{name}'")]
    UnknownFileSystem {
        name: String,
        /// The most similar entry.
        nearest: Option<&'static str>,
    },
    /// The text is not a subject.
    #[error("cannot read a subject")]
    Subject(#[from] ParseSubjectError),
    /// One subject was named twice: its results could not be distinguished.
    #[error("the subject '{0}' is named twice")]
    DuplicateSubject(Box<Subject>),
    /// A subject of a directory, which is not named like that.
    #[error("the subject '{0}' names a directory")]
    Directory(Box<Subject>),
    /// An option that a trial must not use, or cannot use.
    #[error("cannot use the {kind} option '{option}' with {file_system}: {reason}")]
    BadOption {
        /// The entry.
        file_system: &'static str,
        /// `mkfs` or `mount`.
        kind: &'static str,
        /// The word.
        option: String,
        /// A fragment.
        reason: String,
        /// What may be passed instead.
        allowed: Option<String>,
    },
    /// The size is too small for the file system.
    #[error("{size} is too small for {file_system}, which needs {minimum}")]
    TooSmall {
        /// The entry.
        file_system: &'static str,
        /// The size requested.
        size: Bytes,
        /// The smallest size.
        minimum: Bytes,
    },
    /// The size is too large for the file system.
    #[error("{size} is too large for {file_system}, whose maximum is {maximum}")]
    TooLarge {
        /// The entry.
        file_system: &'static str,
        /// The size requested.
        size: Bytes,
        /// The largest size.
        maximum: Bytes,
    },
    /// The entry cannot be used on any machine.
    #[error("{file_system} cannot be mounted anywhere: {reason}")]
    Unavailable {
        /// The entry.
        file_system: &'static str,
        /// The reason, a fragment.
        reason: &'static str,
    },
    /// A program is not installed.
    #[error("cannot find the program {}", .0.program)]
    MissingTool(Tool),
    /// The version of a program is unknown.
    #[error("cannot get the version of {program}")]
    Version {
        program: PathBuf,
        /// Why it could not be run; `None` if it printed nothing.
        source: Option<io::Error>,
    },
    /// A file of the machine, or a device, cannot be read.
    #[error("cannot read {path}", path = .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// No mount covers a directory.
    #[error("cannot find what is mounted at {path}", path = .0.display())]
    NotMounted(PathBuf),
}

impl CatalogueError {
    /// What the user can do.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::UnknownFileSystem { name, .. } if name.starts_with(['/', '.', '~']) => {
                Some(format!(
                    "measure a mounted directory with `fslab compare --dir {name}`, several with \
                     one --dir for each"
                ))
            }
            Self::UnknownFileSystem { name, .. } if Protocol::of(name).is_some() => Some(format!(
                "name what it serves after a colon, for example {name}:ext4; measure a directory \
                 of a mounted one with --dir"
            )),
            Self::Directory(subject) => subject
                .directory()
                .map(|directory| format!("measure it with `fslab compare --dir {directory}`")),
            Self::UnknownFileSystem {
                nearest: Some(nearest),
                ..
            } => Some(did_you_mean(nearest)),
            Self::UnknownFileSystem { nearest: None, .. } => {
                Some("list them with fslab fs list".to_owned())
            }
            Self::DuplicateSubject(_) => {
                Some("name it once; use --repeats to measure it more often".to_owned())
            }
            Self::TooSmall { minimum, .. } => {
                Some(format!("use --size {} or more", minimum.to_argument()))
            }
            Self::TooLarge { maximum, .. } => {
                Some(format!("use --size {} or less", maximum.to_argument()))
            }
            Self::MissingTool(tool) => Some(tool.install_hint()),
            Self::Read { source, .. } if source.kind() == io::ErrorKind::PermissionDenied => {
                Some("run fslab as root".to_owned())
            }
            Self::BadOption { allowed, .. } => allowed.clone(),
            Self::Subject(_)
            | Self::Unavailable { .. }
            | Self::Version { .. }
            | Self::Read { .. }
            | Self::NotMounted(_) => None,
        }
    }

    fn failure_kind(&self) -> FailureKind {
        match self {
            Self::UnknownFileSystem { .. }
            | Self::Subject(_)
            | Self::DuplicateSubject(_)
            | Self::Directory(_)
            | Self::BadOption { .. }
            | Self::TooSmall { .. }
            | Self::TooLarge { .. } => FailureKind::BadInput,
            Self::Unavailable { .. } => FailureKind::Unsupported,
            Self::MissingTool(_) | Self::Version { .. } => FailureKind::MissingTool,
            Self::Read { source, .. } => FailureKind::of_users_file(source, FailureKind::Device),
            Self::NotMounted(_) => FailureKind::Device,
        }
    }
}

impl From<CatalogueError> for Failure {
    fn from(error: CatalogueError) -> Self {
        Self::of_error(error.failure_kind(), &error).with_hint(error.hint())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_keeps_kind_cause_and_hint_of_the_error() {
        let error = CatalogueError::Read {
            path: "/dev/sda".into(),
            source: io::Error::from_raw_os_error(13),
        };
        let failure = Failure::from(error);
        assert_eq!(failure.kind, FailureKind::Permission);
        assert_eq!(failure.message, "cannot read /dev/sda");
        assert_eq!(failure.errno, Some(13));
        assert_eq!(failure.hint.as_deref(), Some("run fslab as root"));
    }
}
