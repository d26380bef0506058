//! The cache's lock: one build at a time.

use std::fs::{File, TryLockError};
use std::io::ErrorKind;
use std::path::Path;

use fslab_sys::TrustedFolder;

use fslab_model::{Failure, FailureKind};

use crate::LabError;

/// File name in the cache.
const NAME: &str = "build.lock";

/// The exclusive right to build in a cache. Dropping it unlocks the cache.
///
/// Programs started by a build inherit the lock: if fslab is killed, the cache stays locked until
/// the last of them has ended, so that their files are not removed while they run.
#[derive(Debug)]
pub(crate) struct BuildLock {
    folder: TrustedFolder,
    _file: File,
}

impl BuildLock {
    /// Locks the cache in the existing `folder`.
    pub(crate) fn take(folder: &Path) -> Result<Self, LabError> {
        let path = folder.join(NAME);
        let failed = |error| LabError::io("lock", &path)(error);
        // Programs built here are executed: no other user may have write access.
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
                Err(TryLockError::WouldBlock) => {
                    let text = "another fslab is building a kernel";
                    let failure = Failure::new(FailureKind::Device, text);
                    return Err(failure.hint("wait until it ends").into());
                }
            }
            fslab_sys::let_children_inherit(&file).map_err(failed)?;
            // The previous owner may have removed the file between our open and our lock.
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
        // What stays is an empty file that is not locked.
        let _ = self.folder.remove(NAME);
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    // The lock had been opened through a link, and the link's target made or locked.
    #[test]
    fn a_lock_that_is_a_link_is_refused() {
        let folder = tempfile::tempdir().expect("a directory");
        let outside = folder.path().join("outside");
        fslab_sys::os::symlink(&outside, folder.path().join("build.lock")).expect("linked");
        let refused = BuildLock::take(folder.path()).expect_err("refused");
        assert!(refused.to_string().starts_with("cannot lock "), "{refused}");
        assert!(!outside.exists());
    }

    #[test]
    fn a_cache_has_one_lock_until_it_is_released() {
        let folder = tempfile::tempdir().expect("a directory");
        let held = BuildLock::take(folder.path()).expect("free");
        let refused = BuildLock::take(folder.path()).expect_err("refused");
        assert_eq!(refused.to_string(), "another fslab is building a kernel");
        drop(held);
        drop(BuildLock::take(folder.path()).expect("free again"));
        assert_eq!(
            fs::read_dir(folder.path()).expect("the directory").count(),
            0
        );
    }
}
