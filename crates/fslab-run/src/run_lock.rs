//! The lock of a run: only one process conducts it at a time.
//!
//! A lock file `runs/RUN.lock` below the state directory. The kernel releases the lock when its
//! owner dies for any reason, so that a killed run can be resumed at once.

use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use fslab_model::{Failure, FailureKind, RunId};
use fslab_sys::TrustedFolder;

/// Directory of the locks, below the state directory.
const FOLDER: &str = "runs";
/// How long the removal of old locks may hold a lock.
const CLEANING: Duration = Duration::from_millis(200);

/// The right to conduct a run; released on drop.
#[derive(Debug)]
pub struct RunLock {
    folder: TrustedFolder,
    name: String,
    _file: File,
}

impl RunLock {
    /// Locks `run` below `state_folder`, which is created if needed.
    ///
    /// # Errors
    /// A [`Failure`] of kind `BadInput` if another process conducts the run, and of kind `Device`
    /// if the lock file cannot be made.
    pub fn take(state_folder: &Path, run: &RunId) -> Result<Self, Failure> {
        let path = state_folder.join(FOLDER).join(format!("{run}.lock"));
        let failed = |error: io::Error| {
            let text = format!("cannot lock the run {run} with {}", path.display());
            Failure::new(FailureKind::Device, text)
                .because(&error)
                .hint(
                    "fslab keeps locks below XDG_STATE_HOME, by default ~/.local/state, which must \
                     not be writable by other users",
                )
        };
        let name = format!("{run}.lock");
        let folder = TrustedFolder::open_or_make(&state_folder.join(FOLDER)).map_err(failed)?;
        let began = Instant::now();
        loop {
            let file = match folder.make_file(&name) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    match folder.open_file(&name) {
                        Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                        file => file.map_err(failed)?,
                    }
                }
                file => file.map_err(failed)?,
            };
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::Error(error)) => return Err(failed(error)),
                // The removal of old locks holds each lock briefly.
                Err(TryLockError::WouldBlock) if began.elapsed() < CLEANING => {
                    std::thread::sleep(Duration::from_millis(5));
                    continue;
                }
                Err(TryLockError::WouldBlock) => {
                    let text = format!("the run {run} is under way");
                    return Err(Failure::new(FailureKind::BadInput, text)
                        .hint("wait until it ends, or leave out --resume to start a new run"));
                }
            }
            // The previous owner may have removed the file between our open and our lock.
            if folder.is_named(&file, &name).map_err(failed)? {
                return Ok(Self {
                    folder,
                    name,
                    _file: file,
                });
            }
        }
    }

    /// Removes locks below `state_folder` that no process holds, as of killed runs. Returns their
    /// paths.
    pub fn remove_unheld(state_folder: &Path) -> io::Result<Vec<PathBuf>> {
        let folder = match TrustedFolder::open(&state_folder.join(FOLDER)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            folder => folder?,
        };
        let is_lock = |name: &String| {
            let run = name.strip_suffix(".lock");
            run.is_some_and(|run| run.parse::<RunId>().is_ok())
        };
        let mut removed = Vec::new();
        for name in folder.names()?.into_iter().filter(is_lock) {
            // Files that cannot be trusted are not opened, and stay.
            let Ok(file) = folder.open_file(&name) else {
                continue;
            };
            let is_empty = file.metadata()?.len() == 0;
            if is_empty && file.try_lock().is_ok() && folder.is_named(&file, &name)? {
                folder.remove(&name)?;
                removed.push(folder.path().join(&name));
            }
        }
        Ok(removed)
    }
}

impl Drop for RunLock {
    fn drop(&mut self) {
        // What stays is an empty file that is not locked.
        let _ = self.folder.remove(&self.name);
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_run_has_one_lock_which_leaves_no_file() {
        let folder = tempfile::tempdir().expect("a directory");
        let (run, other) = ("a".parse().expect("a run"), "b".parse().expect("a run"));
        let held = RunLock::take(folder.path(), &run).expect("free");
        let refused = RunLock::take(folder.path(), &run).expect_err("held");
        assert_eq!(refused.kind, FailureKind::BadInput);
        assert!(refused.message.contains("under way") && refused.hint.is_some());
        RunLock::take(folder.path(), &other).expect("another run is free");
        drop(held);
        RunLock::take(folder.path(), &run).expect("free again");
        let left = fs::read_dir(folder.path().join("runs")).expect("the directory");
        assert_eq!(left.count(), 0);
    }

    /// Locks of killed runs had accumulated.
    #[test]
    fn only_locks_of_killed_runs_are_removed() {
        let folder = tempfile::tempdir().expect("a directory");
        let run = "20261121-143205-k3f9".parse().expect("a run");
        let held = RunLock::take(folder.path(), &run).expect("free");
        let runs = folder.path().join("runs");
        fs::write(runs.join("20261121-143205-dead.lock"), "").expect("a lock");
        fs::write(runs.join("20261121-143205-full.lock"), "words").expect("a file");
        fs::write(runs.join("notes"), "").expect("a file");
        let outside = folder.path().join("outside");
        fs::write(&outside, "").expect("a file");
        fslab_sys::os::symlink(&outside, runs.join("a.lock")).expect("a link");
        let removed = RunLock::remove_unheld(folder.path()).expect("listed");
        assert_eq!(removed, [runs.join("20261121-143205-dead.lock")]);
        assert!(outside.exists() && runs.join("notes").exists());
        assert_eq!(fs::read_dir(&runs).expect("the directory").count(), 4);
        drop(held);
    }

    /// The lock had been opened through a symbolic link.
    #[test]
    fn a_lock_that_is_a_symbolic_link_is_refused() {
        let folder = tempfile::tempdir().expect("a directory");
        fs::create_dir(folder.path().join("runs")).expect("a directory");
        let outside = folder.path().join("outside");
        fslab_sys::os::symlink(&outside, folder.path().join("runs/a.lock")).expect("a link");
        let run = "a".parse().expect("a run");
        RunLock::take(folder.path(), &run).expect_err("a link");
        assert!(!outside.exists());
    }

    #[test]
    fn a_state_folder_that_cannot_be_made_is_an_error() {
        let folder = tempfile::tempdir().expect("a directory");
        let file = folder.path().join("file");
        fs::write(&file, "").expect("written");
        let run = "a".parse().expect("a run");
        let refused = RunLock::take(&file, &run).expect_err("no directory");
        assert_eq!(refused.kind, FailureKind::Device);
    }
}
