//! The lock of a run: one conductor for one run at a time.
//!
//! A lock file below the state folder, `runs/RUN.lock`. The kernel gives the lock up when its owner
//! dies, however it dies, so that a killed run can be resumed at once.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use fslab_model::{Failure, FailureKind, RunId};

/// A run that is this process's to conduct, until this is dropped.
#[derive(Debug)]
pub struct RunLock {
    path: PathBuf,
    _file: File,
}

impl RunLock {
    /// Locks `run` below `state_folder`, which is made where it is not there.
    ///
    /// # Errors
    /// A [`Failure`] of kind `BadInput` where another process has the run under way, and of kind
    /// `Device` where the lock file cannot be made.
    pub fn take(state_folder: &Path, run: &RunId) -> Result<Self, Failure> {
        let path = state_folder.join("runs").join(format!("{run}.lock"));
        let failed = |error: io::Error| {
            let text = format!("cannot lock the run {run} by {}", path.display());
            Failure::new(FailureKind::Device, text)
                .because(&error)
                .hint("fslab keeps locks below XDG_STATE_HOME; is it writable?")
        };
        fs::create_dir_all(state_folder.join("runs")).map_err(failed)?;
        loop {
            let file = File::options()
                .write(true)
                .create(true)
                .truncate(false)
                .open(&path)
                .map_err(failed)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::Error(error)) => return Err(failed(error)),
                Err(TryLockError::WouldBlock) => {
                    let text = format!("the run {run} is under way");
                    return Err(Failure::new(FailureKind::BadInput, text)
                        .hint("wait for its end, or leave out --resume to begin a new run"));
                }
            }
            // Its last owner may have removed the file between our opening and our locking.
            if fslab_sys::is_named(&file, &path).map_err(failed)? {
                return Ok(Self { path, _file: file });
            }
        }
    }
}

impl Drop for RunLock {
    fn drop(&mut self) {
        // What stays is an empty file that nobody has locked.
        let _ = fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_locked_once_until_it_is_given_up_and_leaves_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let (run, other) = ("a".parse().expect("a run"), "b".parse().expect("a run"));
        let held = RunLock::take(folder.path(), &run).expect("free");
        let refused = RunLock::take(folder.path(), &run).expect_err("held");
        assert_eq!(refused.kind, FailureKind::BadInput);
        assert!(refused.message.contains("under way") && refused.hint.is_some());
        RunLock::take(folder.path(), &other).expect("another run is free");
        drop(held);
        RunLock::take(folder.path(), &run).expect("free again");
        let left = fs::read_dir(folder.path().join("runs")).expect("the folder");
        assert_eq!(left.count(), 0);
    }

    #[test]
    fn a_state_folder_that_cannot_be_made_is_told() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("file");
        fs::write(&file, "").expect("written");
        let run = "a".parse().expect("a run");
        let refused = RunLock::take(&file, &run).expect_err("no folder");
        assert_eq!(refused.kind, FailureKind::Device);
    }
}
