//! Limits what a child process may write, with Landlock: everything not allowed here is denied to
//! it and its descendants for good, root included.
//!
//! Restricted are writing, creating, renaming, removing and truncating files; in later ABI versions
//! also ioctl(2) on devices, TCP, and signals and abstract sockets to processes outside. Not
//! restricted are reading, chmod(2), chown(2), utimensat(2) and extended attributes, for which
//! Landlock has no right. A kernel with an earlier ABI restricts what it can.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, PathBeneath, PathFd, PathFdError, Ruleset,
    RulesetAttr, RulesetCreated, RulesetCreatedAttr, Scope,
};

/// The newest rights that are restricted.
const NEWEST: ABI = ABI::V6;

/// The write permissions of a child; none unless allowed.
#[derive(Debug)]
pub struct WriteLimits(RulesetCreated);

impl WriteLimits {
    /// Denies all writes; `None` if the kernel has no Landlock or it is off.
    ///
    /// # Errors
    /// Those of landlock_create_ruleset(2).
    pub fn new() -> io::Result<Option<Self>> {
        let ruleset = Ruleset::default()
            .handle_access(AccessFs::from_write(NEWEST))
            .and_then(|rules| rules.handle_access(AccessNet::from_all(NEWEST)))
            .and_then(|rules| rules.scope(Scope::from_all(NEWEST)))
            .and_then(Ruleset::create)
            .map_err(io::Error::other)?;
        let descriptor: Option<OwnedFd> = ruleset.try_clone()?.into();
        Ok(descriptor.map(|_| Self(ruleset)))
    }

    /// Allows everything below `folder` except device nodes and ioctl(2) on devices.
    pub fn allow_below(&mut self, folder: &Path) -> io::Result<()> {
        let devices = AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::IoctlDev;
        self.allow(folder, AccessFs::from_write(NEWEST) & !devices)
    }

    /// Allows writing existing files: `path`, or those below it, but not creating, renaming or
    /// removing. An O_TMPFILE has no name and is allowed.
    pub fn allow_writing(&mut self, path: &Path) -> io::Result<()> {
        self.allow(path, AccessFs::WriteFile.into())
    }

    fn allow(&mut self, path: &Path, rights: BitFlags<AccessFs>) -> io::Result<()> {
        let place = PathFd::new(path).map_err(|error| match error {
            PathFdError::OpenCall { source, .. } => source,
            error => io::Error::other(error),
        })?;
        (&mut self.0)
            .add_rule(PathBeneath::new(place, rights))
            .map_err(io::Error::other)?;
        Ok(())
    }

    /// Applies the limits to the process of `command`, which can gain no privileges by execve(2)
    /// then.
    pub fn apply(self, command: &mut Command) {
        let prepare = move || {
            let restricted = self.0.try_clone()?.restrict_self();
            restricted.map_or_else(|_| Err(io::Error::last_os_error()), |_| Ok(()))
        };
        // SAFETY: between fork and exec the closure makes some system calls, and neither allocates
        // nor takes a lock.
        unsafe {
            command.pre_exec(prepare);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limited_child_writes_only_where_allowed() {
        let Some(mut limits) = WriteLimits::new().expect("asked") else {
            println!("skipped: this kernel has no Landlock");
            return;
        };
        let name = format!("fslab-landlock-{}", std::process::id());
        let place = std::env::temp_dir().join(name);
        let (mine, other) = (place.join("mine"), place.join("other"));
        for folder in [&mine, &other] {
            std::fs::create_dir_all(folder).expect("made");
        }
        for file in ["other/there", "other/removed", "other/allowed"] {
            std::fs::write(place.join(file), "old").expect("written");
        }
        limits.allow_below(&mine).expect("allowed");
        limits
            .allow_writing(&other.join("allowed"))
            .expect("allowed");
        limits
            .allow_writing(Path::new("/dev/null"))
            .expect("allowed");
        let script = "cd \"$0\"; echo new > mine/new; mkdir mine/folder; mv mine/new mine/folder; \
                      ln -s ../other/there mine/link; cat other/there > mine/read; \
                      echo x 1<> other/allowed > /dev/null; \
                      echo bad >> other/there; echo bad >> mine/link; echo bad > other/made; \
                      rm other/removed; mkdir other/folder; mv mine/read other/read; \
                      mknod mine/node c 1 3; truncate -s 0 other/allowed; exit 0";
        let mut command = Command::new("sh");
        command
            .args(["-c", script])
            .arg(&place)
            .stderr(std::process::Stdio::null());
        limits.apply(&mut command);
        assert!(command.status().expect("starts").success());
        let listed = |folder: &Path| {
            let mut names: Vec<_> = std::fs::read_dir(folder)
                .expect("listed")
                .map(|entry| entry.expect("read").file_name())
                .collect();
            names.sort();
            names
        };
        assert_eq!(listed(&mine), ["folder", "link", "read"]);
        assert_eq!(listed(&other), ["allowed", "removed", "there"]);
        let text = |file| std::fs::read_to_string(place.join(file)).expect("read");
        assert_eq!(text("other/there"), "old");
        assert_eq!(text("mine/folder/new"), "new\n");
        std::fs::remove_dir_all(&place).expect("removed");
    }
}
