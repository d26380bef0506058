//! Objects of a kernel that are kept for the next build of the same source, with the copy of its
//! tree. While a build runs, the copy is where the copies of all builds are, since make compares
//! the paths in its commands.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::LabError;
use crate::build_dir::BuildDir;
use crate::source::TREE_COPY;

/// The directory of a source's objects.
pub(crate) struct KeptObjects(PathBuf);

impl KeptObjects {
    /// Those in `folder`, which need not exist.
    pub(crate) fn below(folder: PathBuf) -> Self {
        Self(folder)
    }

    /// The directory of make's output.
    pub(crate) fn output(&self) -> Result<PathBuf, LabError> {
        fs::create_dir_all(&self.0).map_err(LabError::io("make", &self.0))?;
        Ok(self.0.clone())
    }

    /// Moves the copy of the last build into that of this build.
    pub(crate) fn lend_tree(&self, build_dir: &BuildDir<'_>) -> Result<(), LabError> {
        moved(&self.tree(), &build_dir.path(TREE_COPY))
    }

    /// Takes the copy back.
    pub(crate) fn take_tree(&self, build_dir: &BuildDir<'_>) -> Result<(), LabError> {
        moved(&build_dir.path(TREE_COPY), &self.tree())
    }

    fn tree(&self) -> PathBuf {
        self.0.with_extension(TREE_COPY)
    }
}

/// Moves a directory. Without one, or to another file system, the next build makes the copy again.
fn moved(from: &Path, to: &Path) -> Result<(), LabError> {
    match fs::rename(from, to) {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound) => Ok(()),
        Err(error) if matches!(error.kind(), io::ErrorKind::CrossesDevices) => Ok(()),
        other => other.map_err(LabError::io("move", from)),
    }
}
