//! Errors of writing and reading bundles.

use std::path::{Path, PathBuf};

use fslab_model::{Failure, FailureKind};

use crate::LabError;

/// An error of writing or reading a bundle.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    /// A file that is no bundle, or a damaged one.
    #[error("cannot use the bundle {path}: {reason}", path = .path.display())]
    Bad {
        /// The file.
        path: PathBuf,
        /// A fragment.
        reason: String,
    },
    /// An error of the lab or the cache.
    #[error(transparent)]
    Lab(#[from] LabError),
}

impl BundleError {
    /// The error of a part of the bundle `path`: what a reader of labs says of an archive is
    /// said of the bundle.
    pub(super) fn of(path: &Path) -> impl Fn(LabError) -> Self + '_ {
        move |error| match error {
            LabError::BadArchive { reason, .. } | LabError::Unreadable { reason, .. } => {
                Self::bad(path, reason)
            }
            other => Self::Lab(other),
        }
    }

    pub(super) fn bad(path: &Path, reason: impl Into<String>) -> Self {
        Self::Bad {
            path: path.to_owned(),
            reason: reason.into(),
        }
    }
}

impl From<BundleError> for Failure {
    fn from(error: BundleError) -> Self {
        match error {
            BundleError::Bad { .. } => Self::of_error(FailureKind::BadInput, &error)
                .hint("create a bundle with fslab bundle STUDY"),
            BundleError::Lab(error) => error.into(),
        }
    }
}
