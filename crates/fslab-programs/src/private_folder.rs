//! A directory of the trial that is not on the measured file system: a server's configuration, log
//! and socket, or a program that cannot be run where it was built.

use fslab_sys::os::DirBuilderExt;
use fslab_sys::os::MetadataExt;
use std::fs::{self, DirBuilder};
use std::io;
use std::path::{Path, PathBuf};

use fslab_sys::{ProcessIdentity, Signal};

/// Prefix of such directories; the process id follows.
const PREFIX: &str = "fslab-web-";

/// A directory that is removed when it is dropped.
#[derive(Debug)]
pub(super) struct PrivateFolder(PathBuf);

impl PrivateFolder {
    /// Creates one in the system's temporary directory. Removes those of killed processes, and ends
    /// the servers that they left running.
    pub(super) fn make() -> io::Result<Self> {
        Self::make_below(&std::env::temp_dir())
    }

    fn make_below(parent: &Path) -> io::Result<Self> {
        remove_stale(parent)?;
        let mut builder = DirBuilder::new();
        builder.mode(0o700);
        // One trial has one server at a time; tests have more.
        let numbers = 0..1_000;
        for number in numbers {
            let path = parent.join(format!("{PREFIX}{}-{number}", std::process::id()));
            match builder.create(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                made => return made.map(|()| Self(path)),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    pub(super) fn join(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for PrivateFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Removes the directories that killed trials left in the directory of temporary files, ends the
/// servers that they left running, and returns the directories. Other users' directories stay.
pub fn remove_stale_folders() -> Vec<PathBuf> {
    // What cannot be listed has nothing of this user's, or is reported when a server starts.
    remove_stale(&std::env::temp_dir()).unwrap_or_default()
}

/// Removes the directories of processes that no longer exist, and returns them.
fn remove_stale(parent: &Path) -> io::Result<Vec<PathBuf>> {
    let mut removed = Vec::new();
    for entry in fs::read_dir(parent)? {
        let name = entry?.file_name();
        let number = name
            .to_str()
            .and_then(|name| name.strip_prefix(PREFIX)?.split_once('-'))
            .and_then(|(process, _)| process.parse().ok());
        if let Some(process) = number
            && !ProcessIdentity::of(process).is_alive()
        {
            let path = parent.join(name);
            if is_own_folder(&path) {
                terminate_processes_using(&path);
                if fs::remove_dir_all(&path).is_ok() {
                    removed.push(path);
                }
            }
        }
    }
    Ok(removed)
}

/// True if `path` is a directory, not a link, of this user that no other user may access: in a
/// shared temporary directory, other users may have created it.
fn is_own_folder(path: &Path) -> bool {
    let Ok(metadata) = fs::symlink_metadata(path) else {
        return false;
    };
    metadata.is_dir()
        && metadata.uid() == fslab_sys::effective_user()
        && metadata.mode() & 0o077 == 0
}

/// Terminates the processes that have files of `folder` open: a server that left its process group
/// outlives a killed trial. Processes of other users cannot be inspected, and are skipped.
fn terminate_processes_using(folder: &Path) {
    for process in fslab_sys::processes() {
        let is_user = || {
            let files = fs::read_dir(format!("/proc/{}/fd", process.pid));
            let targets = files.into_iter().flatten().flatten();
            let mut targets = targets.filter_map(|file| fs::read_link(file.path()).ok());
            targets.any(|target| target.starts_with(folder))
        };
        if is_user() {
            // `is_user` is checked again, since the PID may have been reused.
            let _ = fslab_sys::signal_if(process.pid, Signal::Terminate, is_user);
        }
    }
}

#[cfg(test)]
mod tests {
    use fslab_sys::os::PermissionsExt;

    use super::*;

    #[test]
    fn a_folder_is_removed_with_its_user_and_stale_ones_are_removed_too() {
        let parent = tempfile::tempdir().expect("a directory");
        let stale = parent.path().join(format!("{PREFIX}{}-0", u32::MAX));
        let foreign = parent.path().join("something-else");
        let mut private = DirBuilder::new();
        private.mode(0o700);
        for folder in [&stale, &foreign] {
            private.create(folder).expect("made");
        }
        // Directories that other users may have made: one that all may write, and a link.
        let open = parent.path().join(format!("{PREFIX}{}-1", u32::MAX));
        fs::create_dir(&open).expect("made");
        fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).expect("ours");
        let link = parent.path().join(format!("{PREFIX}{}-2", u32::MAX));
        fslab_sys::os::symlink(&foreign, &link).expect("a link");
        let log = fs::File::create(stale.join("log")).expect("made");
        let mut left = std::process::Command::new("sleep")
            .arg("600")
            .stdout(log)
            .spawn()
            .expect("sleep starts");
        let folder = PrivateFolder::make_below(parent.path()).expect("made");
        let second = PrivateFolder::make_below(parent.path()).expect("made");
        assert_ne!(folder.path(), second.path());
        assert!(!stale.exists() && foreign.exists());
        assert!(open.exists() && link.exists());
        let ended = left.wait().expect("the server that was left is ended");
        assert!(!ended.success(), "by a signal");
        fs::write(folder.join("log"), "x").expect("written");
        let path = folder.path().to_owned();
        drop(folder);
        assert!(!path.exists());
    }
}
