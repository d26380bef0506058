//! The lock of the cache: one build at a time.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use crate::LabError;

/// The right to build in a cache, until this is dropped.
///
/// The programs that a build starts inherit the lock: where fslab is killed, the cache is locked
/// until the last of them has ended, and nobody cleans up under their hands.
#[derive(Debug)]
pub(crate) struct BuildLock {
    path: PathBuf,
    _file: File,
}

impl BuildLock {
    /// Locks the cache in `folder`, which is there.
    pub(crate) fn take(folder: &Path) -> Result<Self, LabError> {
        let path = folder.join("build.lock");
        let failed = |error| LabError::io("lock", &path)(error);
        loop {
            let mut options = File::options();
            options.write(true).create(true).truncate(false);
            let file = options.open(&path).map_err(failed)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::Error(error)) => return Err(failed(error)),
                Err(TryLockError::WouldBlock) => return Err(LabError::Busy),
            }
            fslab_sys::let_children_inherit(&file).map_err(failed)?;
            // Its last owner may have removed the file between our opening and our locking.
            if fslab_sys::is_named(&file, &path).map_err(failed)? {
                return Ok(Self { path, _file: file });
            }
        }
    }
}

impl Drop for BuildLock {
    fn drop(&mut self) {
        // What stays is an empty file that nobody has locked.
        let _ = fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cache_is_locked_once_until_it_is_given_up() {
        let folder = tempfile::tempdir().expect("a folder");
        let held = BuildLock::take(folder.path()).expect("free");
        let refused = BuildLock::take(folder.path());
        assert!(matches!(refused, Err(LabError::Busy)));
        drop(held);
        drop(BuildLock::take(folder.path()).expect("free again"));
        assert_eq!(fs::read_dir(folder.path()).expect("the folder").count(), 0);
    }
}
