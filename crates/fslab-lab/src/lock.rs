//! The lock of the cache: one build at a time.

use std::fs::{File, TryLockError};
use std::io::ErrorKind;
use std::path::Path;

use fslab_sys::TrustedFolder;

use crate::LabError;

/// The file's name in the cache.
const NAME: &str = "build.lock";

/// The right to build in a cache, until this is dropped.
///
/// The programs that a build starts inherit the lock: where fslab is killed, the cache is locked
/// until the last of them has ended, and nobody cleans up under their hands.
#[derive(Debug)]
pub(crate) struct BuildLock {
    folder: TrustedFolder,
    _file: File,
}

impl BuildLock {
    /// Locks the cache in `folder`, which is there.
    pub(crate) fn take(folder: &Path) -> Result<Self, LabError> {
        let path = folder.join(NAME);
        let failed = |error| LabError::io("lock", &path)(error);
        // What is built here is run: no other user may write here.
        let folder = TrustedFolder::open(folder).map_err(failed)?;
        loop {
            let file = match folder.make_file(NAME) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                    match folder.open_file(NAME) {
                        Err(error) if error.kind() == ErrorKind::NotFound => continue,
                        file => file.map_err(failed)?,
                    }
                }
                file => file.map_err(failed)?,
            };
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::Error(error)) => return Err(failed(error)),
                Err(TryLockError::WouldBlock) => return Err(LabError::Busy),
            }
            fslab_sys::let_children_inherit(&file).map_err(failed)?;
            // Its last owner may have removed the file between our opening and our locking.
            if folder.is_named(&file, NAME).map_err(failed)? {
                return Ok(Self {
                    folder,
                    _file: file,
                });
            }
        }
    }
}

impl Drop for BuildLock {
    fn drop(&mut self) {
        // What stays is an empty file that nobody has locked.
        let _ = self.folder.remove(NAME);
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    // It was opened through a link, and what that led to was made or locked.
    #[test]
    fn a_lock_that_is_a_link_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let outside = folder.path().join("outside");
        std::os::unix::fs::symlink(&outside, folder.path().join("build.lock")).expect("linked");
        let refused = BuildLock::take(folder.path());
        assert!(matches!(refused, Err(LabError::Io { .. })), "{refused:?}");
        assert!(!outside.exists());
    }

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
