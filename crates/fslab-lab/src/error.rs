//! Errors of finding and importing labs. What no caller distinguishes is a [`Failure`], made at its
//! place.

use std::io;
use std::path::{Path, PathBuf};

use fslab_model::{Failure, FailureKind};

/// An error of building, finding or importing a lab.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// No such name or key in the cache.
    #[error(transparent)]
    NotBuilt(Failure),
    /// A damaged description, or one of another version. In an archive, that is damaged instead.
    #[error("cannot use the kernel described by {path}: {reason}", path = .path.display())]
    Unreadable {
        path: PathBuf,
        /// A fragment.
        reason: String,
    },
    /// A file that is no exported lab, or a damaged one. In a bundle, that is damaged instead.
    #[error("cannot import a lab from {path}: {reason}", path = .path.display())]
    BadArchive {
        path: PathBuf,
        /// A fragment.
        reason: String,
    },
    #[error(transparent)]
    Other(#[from] Failure),
}

impl LabError {
    pub(crate) fn io(operation: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |error| Failure::of_file(FailureKind::Device, operation, &path, &error).into()
    }

    pub(crate) fn bad_tree(path: &Path, reason: &str) -> Self {
        let path = path.display();
        Failure::bad_input(format!("cannot put {path} into an image: {reason}")).into()
    }

    /// A damaged program or library.
    pub(crate) fn bad_program(path: &Path, reason: impl std::fmt::Display) -> Self {
        let path = path.display();
        Failure::bad_input(format!("cannot take {path} into a lab: {reason}")).into()
    }

    /// A path without a kernel's source.
    pub(crate) fn bad_source(path: &Path, reason: impl std::fmt::Display) -> Self {
        let path = path.display();
        Failure::bad_input(format!("cannot build a kernel from {path}: {reason}")).into()
    }

    /// A file of the study that cannot be stored in a layer.
    pub(crate) fn bad_input(path: &Path, reason: impl std::fmt::Display) -> Failure {
        let path = path.display();
        Failure::bad_input(format!("cannot bring {path} into a guest: {reason}"))
    }

    /// True for [`Self::interrupted`].
    pub(crate) fn is_interruption(&self) -> bool {
        matches!(self, Self::Other(failure) if failure.kind == FailureKind::Interrupted)
    }

    /// The build was stopped on request.
    pub(crate) fn interrupted() -> Self {
        Failure::new(FailureKind::Interrupted, "the build was stopped on request").into()
    }
}

impl From<LabError> for Failure {
    fn from(error: LabError) -> Self {
        match error {
            LabError::NotBuilt(failure) | LabError::Other(failure) => failure,
            LabError::Unreadable { .. } => Self::unsupported(error.to_string())
                .hint("build it again with fslab lab build --force"),
            LabError::BadArchive { .. } => {
                Self::bad_input(error.to_string()).hint("use a file that fslab lab export wrote")
            }
        }
    }
}
