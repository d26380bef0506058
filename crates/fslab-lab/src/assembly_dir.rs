//! The directory in which a lab is assembled.

use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::lab::{LabFacts, write_root};
use crate::root::Assembly;
use crate::{BuildRequest, Cache, Kernel, Lab, LabError, RootFacts};

/// The directory of a build. Dropping it removes the directory.
pub(crate) struct AssemblyDir(PathBuf);

impl AssemblyDir {
    /// Makes `folder` empty, also after a killed build. The caller holds the cache's lock.
    pub(crate) fn open(folder: PathBuf) -> Result<Self, LabError> {
        match fs::remove_dir_all(&folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(LabError::io("remove", &folder)(error));
            }
            _ => {}
        }
        fs::create_dir(&folder).map_err(LabError::io("make", &folder))?;
        Ok(Self(folder))
    }

    /// Creates a directory in it.
    pub(crate) fn make(&self, name: &str) -> Result<PathBuf, LabError> {
        let path = self.0.join(name);
        fs::create_dir(&path).map_err(LabError::io("make", &path))?;
        Ok(path)
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.0
    }

    /// Builds a root image of this machine's files; true if the same one existed.
    pub(crate) fn build_root(
        &self,
        cache: &Cache,
        network: bool,
    ) -> Result<(RootFacts, bool), LabError> {
        let finished = self.make("root")?;
        let written = write_root(
            &finished,
            Assembly::of_this_machine(network)?,
            fslab_sys::unix_seconds(),
        )?;
        let kept = cache.keep_root(&finished, &written.key)?;
        let was_there = finished.exists();
        Ok((kept, was_there))
    }

    pub(crate) fn join(
        &self,
        cache: &Cache,
        kernel: &Kernel,
        root: &RootFacts,
        request: &BuildRequest,
    ) -> Result<Lab, LabError> {
        let finished = self.make("lab")?;
        let facts = LabFacts::of(kernel, root)?;
        facts.write(&finished)?;
        kernel.copy_into(&finished)?;
        cache.keep_lab(&finished, &facts.digest, &request.name)
    }
}

impl Drop for AssemblyDir {
    fn drop(&mut self) {
        // What could not be removed, the next build removes.
        let _ = fs::remove_dir_all(&self.0);
    }
}
