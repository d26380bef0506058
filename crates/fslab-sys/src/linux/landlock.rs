//! Limits what a child process may write, with Landlock: everything not allowed here is denied to
//! it and its descendants for good, root included.
//!
//! Restricted are writing, creating, renaming, removing and truncating files; in later ABI versions
//! also ioctl(2) on devices, TCP, and signals and abstract sockets to processes outside. Not
//! restricted are reading, chmod(2), chown(2), utimensat(2) and extended attributes, for which
//! Landlock has no right.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use super::status::check;

/// Access rights as in landlock(7).
const WRITE_FILE: u64 = 1 << 1;
/// Creating, renaming and removing: REMOVE_DIR to MAKE_SYM.
const CHANGE_NAMES: u64 = 0x1ff0;
const MAKE_CHAR: u64 = 1 << 6;
const MAKE_BLOCK: u64 = 1 << 11;
const REFER: u64 = 1 << 13;
const TRUNCATE: u64 = 1 << 14;
const IOCTL_DEV: u64 = 1 << 15;
/// Binding and connecting TCP ports.
const TCP: u64 = 0b11;
/// Abstract UNIX sockets and signals.
const SCOPES: u64 = 0b11;

const CREATE_VERSION: libc::c_uint = 1;
const RULE_PATH_BENEATH: libc::c_uint = 1;

#[repr(C)]
#[derive(Default)]
struct RulesetAttributes {
    handled_files: u64,
    handled_net: u64,
    scoped: u64,
}

#[repr(C, packed)]
struct PathBeneath {
    allowed: u64,
    parent: i32,
}

/// The write permissions of a child; none unless allowed.
#[derive(Debug)]
pub struct WriteLimits {
    ruleset: OwnedFd,
    handled: u64,
}

impl WriteLimits {
    /// The version of Landlock's ABI; `None` if the kernel has no Landlock or it is off.
    ///
    /// # Errors
    /// Those of landlock_create_ruleset(2) except ENOSYS and EOPNOTSUPP.
    pub fn abi() -> io::Result<Option<u32>> {
        // SAFETY: without attributes the call reads no memory and returns a number.
        let version = unsafe {
            libc::syscall(
                libc::SYS_landlock_create_ruleset,
                std::ptr::null::<RulesetAttributes>(),
                0_usize,
                CREATE_VERSION,
            )
        };
        match u32::try_from(version) {
            Ok(version) => Ok(Some(version)),
            Err(_) => match io::Error::last_os_error() {
                error if error.raw_os_error() == Some(libc::ENOSYS) => Ok(None),
                error if error.raw_os_error() == Some(libc::EOPNOTSUPP) => Ok(None),
                error => Err(error),
            },
        }
    }

    /// Denies all writes; `None` if the kernel has no Landlock.
    pub fn new() -> io::Result<Option<Self>> {
        let Some(abi) = Self::abi()? else {
            return Ok(None);
        };
        let since = |version: u32, rights: u64| if abi >= version { rights } else { 0 };
        let handled =
            WRITE_FILE | CHANGE_NAMES | since(2, REFER) | since(3, TRUNCATE) | since(5, IOCTL_DEV);
        let attributes = RulesetAttributes {
            handled_files: handled,
            handled_net: since(4, TCP),
            scoped: since(6, SCOPES),
        };
        // SAFETY: the attributes outlive the call, and their size is passed; attributes unknown to
        // the kernel are zero.
        let descriptor = unsafe {
            libc::syscall(
                libc::SYS_landlock_create_ruleset,
                &raw const attributes,
                size_of::<RulesetAttributes>(),
                0,
            )
        };
        let descriptor = i32::try_from(descriptor).map_err(io::Error::other)?;
        if descriptor < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: it was just opened and has no other owner.
        let ruleset = unsafe { OwnedFd::from_raw_fd(descriptor) };
        Ok(Some(Self { ruleset, handled }))
    }

    /// Allows everything below `folder` except device nodes and ioctl(2) on devices.
    pub fn allow_below(&self, folder: &Path) -> io::Result<()> {
        self.allow(folder, !(MAKE_CHAR | MAKE_BLOCK | IOCTL_DEV))
    }

    /// Allows writing existing files: `path`, or those below it, but not creating, renaming or
    /// removing. An O_TMPFILE has no name and is allowed.
    pub fn allow_writing(&self, path: &Path) -> io::Result<()> {
        self.allow(path, WRITE_FILE)
    }

    fn allow(&self, path: &Path, rights: u64) -> io::Result<()> {
        let mut options = File::options();
        let place = options.read(true).custom_flags(libc::O_PATH).open(path)?;
        let rule = PathBeneath {
            allowed: rights & self.handled,
            parent: place.as_raw_fd(),
        };
        // SAFETY: the rule and its descriptor outlive the call.
        let status = unsafe {
            libc::syscall(
                libc::SYS_landlock_add_rule,
                self.ruleset.as_raw_fd(),
                RULE_PATH_BENEATH,
                &raw const rule,
                0,
            )
        };
        check(status)
    }

    /// Applies the limits to the process of `command`, which can gain no privileges by execve(2)
    /// then.
    pub fn apply(self, command: &mut Command) {
        let prepare = move || {
            // SAFETY: the call takes only numbers.
            let status = unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) };
            check(status)?;
            // SAFETY: the call takes a descriptor that the closure owns.
            let status = unsafe {
                libc::syscall(
                    libc::SYS_landlock_restrict_self,
                    self.ruleset.as_raw_fd(),
                    0,
                )
            };
            check(status)
        };
        // SAFETY: between fork and exec the closure makes two system calls, and neither allocates
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
        let Some(limits) = WriteLimits::new().expect("asked") else {
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
