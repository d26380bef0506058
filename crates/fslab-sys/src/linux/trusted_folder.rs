//! A directory whose files are trustworthy: only this user and root can have created or changed
//! them.
//!
//! Every directory from the root down must be owned by root or the effective user and not writable
//! by others. Three harmless and common exceptions are allowed:
//!
//! - parent directories with the sticky bit (/tmp): others cannot rename or remove our files there,
//!   and the owner of the next directory is checked;
//! - group write permission for the owner's private group, whose ID is equal to the user's;
//! - parent directories owned by a user that is not mapped in the current user namespace: there
//!   this process has no more rights than its user has outside.
//!
//! The path is walked once, without symbolic links, and the open directory is used afterwards:
//! later changes of the path do not matter.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, Mode, OFlags};

/// `S_ISVTX`.
const STICKY: u32 = 0o1000;
const OTHERS_WRITE: u32 = 0o002;
const GROUP_WRITES: u32 = 0o020;
const FOLDER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// An open, trusted directory.
#[derive(Debug)]
pub struct TrustedFolder {
    folder: OwnedFd,
    /// Its canonical path.
    path: PathBuf,
}

impl TrustedFolder {
    /// Opens the directory at `path`.
    ///
    /// # Errors
    /// `NotFound`; `PermissionDenied`, with the directory and the reason, if it is not trusted;
    /// otherwise that of open(2) or stat(2).
    pub fn open(path: &Path) -> io::Result<Self> {
        let path = std::fs::canonicalize(path)?;
        let mut folder: OwnedFd = rustix::fs::open("/", FOLDER, Mode::empty())?;
        let mut walked = PathBuf::from("/");
        let mut names = path.components().filter_map(|part| match part {
            Component::Normal(name) => Some(name),
            _ => None,
        });
        let mut next = names.next();
        check(&folder, &walked, next.is_some())?;
        while let Some(name) = next {
            folder = rustix::fs::openat(&folder, name, FOLDER, Mode::empty())?;
            walked.push(name);
            next = names.next();
            check(&folder, &walked, next.is_some())?;
        }
        Ok(Self { folder, path })
    }

    /// Opens the directory at `path`; creates it for this user alone if it does not exist.
    pub fn open_or_make(path: &Path) -> io::Result<Self> {
        use std::os::unix::fs::DirBuilderExt;
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(path)?;
        Self::open(path)
    }

    /// Its path, without symbolic links.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its sorted names.
    pub fn names(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in rustix::fs::Dir::read_from(&self.folder)? {
            let entry = entry?;
            let name = entry.file_name().to_str().unwrap_or_default();
            if !matches!(name, "" | "." | "..") {
                names.push(name.to_owned());
            }
        }
        names.sort_unstable();
        Ok(names)
    }

    /// Opens the file `name` for reading and writing: a regular file with one hard link, owned by
    /// this user or root, and not writable by others.
    ///
    /// # Errors
    /// `PermissionDenied`, with the reason, if it is not; otherwise that of openat(2).
    pub fn open_file(&self, name: &str) -> io::Result<File> {
        self.open_trusted(name, OFlags::RDWR)
    }

    /// Opens it for reading: for files of root, and for running programs, which cannot be opened
    /// for writing.
    pub fn open_file_to_read(&self, name: &str) -> io::Result<File> {
        self.open_trusted(name, OFlags::RDONLY)
    }

    fn open_trusted(&self, name: &str, access: OFlags) -> io::Result<File> {
        // O_NONBLOCK: opening a FIFO must not block.
        let flags = access | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let opened = self.open_at(name, flags).and_then(ensure_own);
        opened.map_err(|error| with_path(&error, &self.path.join(name)))
    }

    /// Creates the file `name` for this user alone; the name must not exist.
    pub fn make_file(&self, name: &str) -> io::Result<File> {
        let new = OFlags::CREATE | OFlags::EXCL;
        self.open_at(
            name,
            OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC | new,
        )
    }

    fn open_at(&self, name: &str, flags: OFlags) -> io::Result<File> {
        let mode = Mode::RUSR | Mode::WUSR;
        let opened = rustix::fs::openat(&self.folder, plain(name)?, flags, mode)?;
        Ok(File::from(opened))
    }

    /// Renames the file `name` to `new`, replacing it.
    pub fn rename(&self, name: &str, new: &str) -> io::Result<()> {
        let (name, new) = (plain(name)?, plain(new)?);
        Ok(rustix::fs::renameat(&self.folder, name, &self.folder, new)?)
    }

    /// Removes the file `name`.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(
            &self.folder,
            plain(name)?,
            AtFlags::empty(),
        )?)
    }

    /// True if `name` still refers to `file`: another process may have removed or replaced it.
    pub fn is_named(&self, file: &File, name: &str) -> io::Result<bool> {
        let ours = rustix::fs::fstat(file)?;
        match rustix::fs::statat(&self.folder, plain(name)?, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(there) => Ok((there.st_dev, there.st_ino) == (ours.st_dev, ours.st_ino)),
            Err(rustix::io::Errno::NOENT) => Ok(false),
            Err(errno) => Err(errno.into()),
        }
    }
}

/// `file`, if it is regular, has one hard link, belongs to this user or root, and cannot be written
/// to by others.
pub(super) fn ensure_own(file: File) -> io::Result<File> {
    let metadata = file.metadata()?;
    let reason = if !metadata.is_file() {
        Some("it is not a regular file".to_owned())
    } else if metadata.nlink() != 1 {
        Some(format!(
            "it has {} hard links instead of one",
            metadata.nlink()
        ))
    } else {
        distrust(metadata.uid(), metadata.gid(), metadata.mode())
    };
    match reason {
        Some(reason) => Err(io::Error::new(io::ErrorKind::PermissionDenied, reason)),
        None => Ok(file),
    }
}

/// Names the file in an error that has a reason.
fn with_path(error: &io::Error, path: &Path) -> io::Error {
    match error.raw_os_error() {
        Some(libc::ELOOP) => denied(path, "it is a symbolic link"),
        Some(code) => io::Error::from_raw_os_error(code),
        None => denied(path, &error.to_string()),
    }
}

/// Checks that `name` is a single path component.
pub(super) fn plain<N: AsRef<OsStr> + ?Sized>(name: &N) -> io::Result<&OsStr> {
    let mut parts = Path::new(name.as_ref()).components();
    match (parts.next(), parts.next()) {
        (Some(Component::Normal(only)), None) => Ok(only),
        _ => Err(io::ErrorKind::InvalidInput.into()),
    }
}

fn denied(path: &Path, reason: &str) -> io::Error {
    let text = format!("{} cannot be trusted: {reason}", path.display());
    io::Error::new(io::ErrorKind::PermissionDenied, text)
}

fn check(folder: &OwnedFd, path: &Path, is_parent: bool) -> io::Result<()> {
    let stat = rustix::fs::fstat(folder)?;
    #[cfg_attr(
        target_os = "linux",
        expect(clippy::useless_conversion, reason = "other systems have fewer bits")
    )]
    let mode = u32::from(stat.st_mode);
    let is_unknown = is_parent && is_unknown_user(stat.st_uid);
    let uid = if is_unknown { 0 } else { stat.st_uid };
    let is_sticky = is_parent && mode & STICKY != 0;
    let mode = if is_sticky { 0 } else { mode };
    match distrust(uid, stat.st_gid, mode) {
        None => Ok(()),
        Some(reason) => Err(denied(path, &reason)),
    }
}

/// Why a file with this owner, group and mode is not trusted.
fn distrust(uid: u32, gid: u32, mode: u32) -> Option<String> {
    let own = rustix::process::geteuid().as_raw();
    if uid != 0 && uid != own {
        return Some(format!("it belongs to the user {uid}"));
    }
    if mode & OTHERS_WRITE != 0 {
        return Some("every user may write to it".into());
    }
    (mode & GROUP_WRITES != 0 && gid != uid).then(|| format!("the group {gid} may write to it"))
}

/// True if `uid` stands for all users that this user namespace does not map.
fn is_unknown_user(uid: u32) -> bool {
    let line = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let overflow = line("/proc/sys/kernel/overflowuid").trim().parse();
    if overflow != Ok(uid) {
        return false;
    }
    let map = line("/proc/self/uid_map");
    let words: Vec<_> = map.split_whitespace().collect();
    words != ["0", "0", "4294967295"]
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    /// A directory below a sticky one, as most temporary directories are.
    fn folder(name: &str) -> PathBuf {
        let name = format!("fslab-trusted-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).expect("a directory");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).expect("ours");
        path
    }

    #[test]
    fn a_private_folder_below_a_sticky_one_is_trusted_and_a_writable_one_is_not() {
        let path = folder("mode");
        TrustedFolder::open(&path).expect("ours");
        let inside = path.join("inside");
        fs::create_dir(&inside).expect("a directory");
        for mode in [0o777, 0o702, 0o1777] {
            fs::set_permissions(&inside, fs::Permissions::from_mode(mode)).expect("changed");
            let refused = TrustedFolder::open(&inside).expect_err("others may write");
            assert_eq!(refused.kind(), io::ErrorKind::PermissionDenied);
        }
        // A parent needs the sticky bit to be trusted.
        let deeper = inside.join("deeper");
        fs::create_dir(&deeper).expect("a directory");
        fs::set_permissions(&deeper, fs::Permissions::from_mode(0o700)).expect("ours");
        TrustedFolder::open(&deeper).expect("sticky");
        fs::set_permissions(&inside, fs::Permissions::from_mode(0o777)).expect("changed");
        let refused = TrustedFolder::open(&deeper).expect_err("others may replace it");
        assert!(refused.to_string().contains("every user"), "{refused}");
        fs::remove_dir_all(&path).expect("removed");
    }

    #[test]
    fn hard_and_symbolic_links_pipes_and_writable_files_are_not_opened() {
        let path = folder("file");
        let folder = TrustedFolder::open(&path).expect("ours");
        drop(folder.make_file("plain").expect("new"));
        folder.open_file("plain").expect("ours");
        assert!(folder.make_file("plain").is_err(), "it is there");
        assert!(folder.open_file("../plain").is_err());
        symlink(path.join("plain"), path.join("symbolic")).expect("a link");
        assert!(folder.open_file("symbolic").is_err());
        assert!(folder.make_file("symbolic").is_err());
        fs::create_dir(path.join("folder")).expect("a directory");
        assert!(folder.open_file("folder").is_err());
        let pipe = std::process::Command::new("mkfifo")
            .arg(path.join("pipe"))
            .status();
        assert!(pipe.expect("mkfifo starts").success());
        assert!(folder.open_file("pipe").is_err());
        fs::hard_link(path.join("plain"), path.join("hard")).expect("a link");
        assert!(folder.open_file("plain").is_err());
        fs::remove_file(path.join("hard")).expect("removed");
        fs::set_permissions(path.join("plain"), fs::Permissions::from_mode(0o666)).expect("set");
        assert!(folder.open_file("plain").is_err());
        fs::remove_dir_all(&path).expect("removed");
    }

    #[test]
    fn files_of_other_users_are_not_trusted() {
        assert_eq!(distrust(0, 0, 0o40755), None);
        assert_eq!(distrust(0, 0, 0o40775), None);
        let own = rustix::process::geteuid().as_raw();
        assert!(distrust(own.wrapping_add(7), 0, 0o700).is_some());
        assert!(distrust(own, own.wrapping_add(7), 0o770).is_some());
        assert!(distrust(own, own, 0o702).is_some());
    }
}
