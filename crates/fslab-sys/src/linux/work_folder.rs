//! A directory made for one trial, identified by a mark and removed afterwards.
//!
//! The mark is a file in the directory with a random name as its contents: it proves that this is
//! the intended directory, whatever the path resolves to. All operations are relative to the open
//! directory, follow no symbolic links and cross no mounts.
//!
//! Other users have no access, or may at most search it ([`WorkFolder::admit_others`]). A directory
//! that they could write to is not opened.

use std::ffi::{CStr, CString, OsStr};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

use super::beneath;
use super::remove_tree::names_in;

/// File name of the mark.
const MARK: &CStr = c".fslab-mark";
/// Longest mark.
const MARK_BYTES_MAX: u64 = 256;
/// Write permission of the group and of others.
const OTHERS_WRITE: Mode = Mode::WGRP.union(Mode::WOTH);
const FOLDER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// An open work directory of this user.
#[derive(Debug)]
pub struct WorkFolder {
    parent: OwnedFd,
    folder: OwnedFd,
    name: CString,
    path: PathBuf,
}

impl WorkFolder {
    /// Creates the directory `path` for this user alone, with the mark `mark`.
    ///
    /// # Errors
    /// `AlreadyExists`; otherwise that of mkdir(2) or of writing the mark.
    pub fn make(path: &Path, mark: &str) -> io::Result<Self> {
        let (parent, name, path) = open_parent(path)?;
        rustix::fs::mkdirat(&parent, &name, Mode::RWXU)?;
        let made = Self::open_in(parent, name, path)?;
        let new = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW;
        let mode = Mode::RUSR | Mode::WUSR;
        let file = rustix::fs::openat(&made.folder, MARK, new | OFlags::CLOEXEC, mode)?;
        File::from(file).write_all(mark.as_bytes())?;
        Ok(made)
    }

    /// Opens the directory `path`, which must be owned by this user, and writable by no other.
    ///
    /// # Errors
    /// `NotFound`; `PermissionDenied` if another user owns it or may write to it; otherwise that of
    /// open(2): ELOOP or ENOTDIR for a symbolic link.
    pub fn open(path: &Path) -> io::Result<Self> {
        let (parent, name, path) = open_parent(path)?;
        Self::open_in(parent, name, path)
    }

    fn open_in(parent: OwnedFd, name: CString, path: PathBuf) -> io::Result<Self> {
        let folder = open_within(&parent, &name)?;
        let stat = rustix::fs::fstat(&folder)?;
        let denied = |text: String| io::Error::new(io::ErrorKind::PermissionDenied, text);
        if stat.st_uid != rustix::process::geteuid().as_raw() {
            return Err(denied(format!("it belongs to the user {}", stat.st_uid)));
        }
        if Mode::from_raw_mode(stat.st_mode).intersects(OTHERS_WRITE) {
            return Err(denied("other users may write to it".to_owned()));
        }
        Ok(Self {
            parent,
            folder,
            name,
            path,
        })
    }

    /// Its path, without symbolic links.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// True if only this user has access.
    pub fn is_private(&self) -> io::Result<bool> {
        Ok(rustix::fs::fstat(&self.folder)?.st_mode & 0o077 == 0)
    }

    /// Lets other users search the directory, without reading its names, if none of them may write
    /// to the directory `name` in it; otherwise closes it. Returns whether they may search it.
    ///
    /// In a directory to which they may write they could plant symbolic links for programs of root.
    pub fn admit_others(&self, name: &str) -> io::Result<bool> {
        let inner = rustix::fs::statat(&self.folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
        let is_folder = FileType::from_raw_mode(inner.st_mode) == FileType::Directory;
        let is_safe = is_folder && !Mode::from_raw_mode(inner.st_mode).intersects(OTHERS_WRITE);
        let others = if is_safe {
            Mode::XGRP | Mode::XOTH
        } else {
            Mode::empty()
        };
        rustix::fs::fchmod(&self.folder, Mode::RWXU | others)?;
        Ok(is_safe)
    }

    /// True if it has the mark `mark`, or is empty since its creation was interrupted.
    pub fn is_marked(&self, mark: &str) -> io::Result<bool> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file: File = match rustix::fs::openat(&self.folder, MARK, flags, Mode::empty()) {
            Err(Errno::NOENT) => return Ok(self.entries()?.is_empty()),
            opened => opened?.into(),
        };
        let metadata = file.metadata()?;
        let is_own = metadata.uid() == rustix::process::geteuid().as_raw();
        if !metadata.is_file() || metadata.nlink() != 1 || !is_own {
            return Ok(false);
        }
        let mut found = String::new();
        file.take(MARK_BYTES_MAX).read_to_string(&mut found)?;
        Ok(found == mark || (found.is_empty() && self.entries()?.len() == 1))
    }

    /// Mounts at and below the directory, by relative path.
    pub fn mounts(&self) -> io::Result<Vec<PathBuf>> {
        let all = crate::mounts()?.into_iter();
        let below = all.filter_map(|mount| {
            let below = mount.mount_point.strip_prefix(&self.path).ok()?;
            Some(below.to_owned())
        });
        Ok(below.collect())
    }

    /// Unmounts `name`, lazily if it is busy.
    pub fn unmount(&self, name: &str) -> io::Result<()> {
        beneath::unmount(&self.folder, name)
    }

    /// Removes `name` with its contents, and calls `alive` to signal progress. False if it does not
    /// exist.
    ///
    /// # Errors
    /// EXDEV or EBUSY if something is mounted there; otherwise those of reading directories and of
    /// unlinkat(2).
    pub fn remove_tree(&self, name: &str, alive: &dyn Fn()) -> io::Result<bool> {
        remove(&self.folder, &CString::new(name)?, alive)
    }

    /// Removes the regular file `name`. False if it does not exist.
    ///
    /// # Errors
    /// `InvalidInput` if it is no regular file; otherwise that of unlinkat(2).
    pub fn remove_file(&self, name: &str) -> io::Result<bool> {
        match rustix::fs::statat(&self.folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => return Ok(false),
            stat if FileType::from_raw_mode(stat?.st_mode) != FileType::RegularFile => {
                let text = "it is not a regular file";
                return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
            }
            _ => {}
        }
        rustix::fs::unlinkat(&self.folder, name, AtFlags::empty())?;
        Ok(true)
    }

    /// Removes the directory with its contents.
    pub fn remove_all(self, alive: &dyn Fn()) -> io::Result<()> {
        for name in self.entries()? {
            // The mark is removed last: after a kill the directory is still identified.
            if *name != *MARK {
                remove(&self.folder, &name, alive)?;
            }
        }
        self.remove_empty()
    }

    /// Removes the directory, which must be empty except for its mark.
    pub fn remove_empty(self) -> io::Result<()> {
        if self.entries()?.iter().any(|name| **name != *MARK) {
            return Err(io::ErrorKind::DirectoryNotEmpty.into());
        }
        match rustix::fs::unlinkat(&self.folder, MARK, AtFlags::empty()) {
            Err(Errno::NOENT) => {}
            removed => removed?,
        }
        Ok(rustix::fs::unlinkat(
            &self.parent,
            &self.name,
            AtFlags::REMOVEDIR,
        )?)
    }

    fn entries(&self) -> io::Result<Vec<CString>> {
        names_in(&self.folder)
    }
}

/// The open parent of `path`, the last component, and the canonical path.
fn open_parent(path: &Path) -> io::Result<(OwnedFd, CString, PathBuf)> {
    let invalid = || io::Error::from(io::ErrorKind::InvalidInput);
    let name = path.file_name().ok_or_else(invalid)?;
    let parent = fs::canonicalize(path.parent().ok_or_else(invalid)?)?;
    let opened = rustix::fs::open(&parent, FOLDER, Mode::empty())?;
    let path = parent.join(name);
    Ok((opened, CString::new(name.as_bytes())?, path))
}

/// Opens the directory `name` in `folder`, if it is on the same mount.
fn open_within(folder: &OwnedFd, name: &CStr) -> io::Result<OwnedFd> {
    if let Some(opened) = beneath::open(folder, name, FOLDER)? {
        return Ok(opened);
    }
    // Another mount of the same file system is then only found by the mount table.
    let opened = rustix::fs::openat(folder, name, FOLDER, Mode::empty())?;
    let device = |of: &OwnedFd| Ok::<_, io::Error>(rustix::fs::fstat(of)?.st_dev);
    if device(folder)? != device(&opened)? {
        return Err(Errno::XDEV.into());
    }
    Ok(opened)
}

/// Removes `name` from `folder`; false if it does not exist.
fn remove(folder: &OwnedFd, name: &CStr, alive: &dyn Fn()) -> io::Result<bool> {
    alive();
    match rustix::fs::unlinkat(folder, name, AtFlags::empty()) {
        Ok(()) => return Ok(true),
        Err(Errno::NOENT) => return Ok(false),
        // POSIX specifies EPERM for a directory; Linux returns EISDIR.
        Err(Errno::ISDIR | Errno::PERM) => {}
        Err(errno) => return Err(of(name, errno.into())),
    }
    let inner = open_within(folder, name).map_err(|error| of(name, error))?;
    for entry in names_in(&inner)? {
        remove(&inner, &entry, alive)?;
    }
    rustix::fs::unlinkat(folder, name, AtFlags::REMOVEDIR)
        .map_err(|errno| of(name, errno.into()))?;
    Ok(true)
}

/// `error`, with the name in it if the cause is a mount.
fn of(name: &CStr, error: io::Error) -> io::Error {
    let name = OsStr::from_bytes(name.to_bytes()).display();
    match error.raw_os_error() {
        Some(libc::EXDEV | libc::EBUSY) => {
            let text = format!("something is mounted on '{name}' in it");
            io::Error::new(io::ErrorKind::ResourceBusy, text)
        }
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn folder(name: &str) -> PathBuf {
        let name = format!("fslab-work-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).expect("a directory");
        path
    }

    #[test]
    fn a_folder_is_identified_by_its_mark_and_removed_with_its_contents_alone() {
        let outer = folder("mark");
        let precious = outer.join("precious");
        fs::create_dir(&precious).expect("a directory");
        fs::write(precious.join("file"), "x").expect("a file");
        let path = outer.join("work");
        let made = WorkFolder::make(&path, "mark").expect("made");
        assert!(made.is_marked("mark").expect("an answer"));
        assert!(!made.is_marked("other").expect("an answer"));
        assert!(WorkFolder::make(&path, "mark").is_err(), "it is there");
        fs::create_dir_all(path.join("a/b/c")).expect("folders");
        fs::write(path.join("a/b/file"), "x").expect("a file");
        symlink(&precious, path.join("a/link")).expect("a link");
        symlink(&precious, outer.join("alias")).expect("a link");
        assert!(WorkFolder::open(&outer.join("alias")).is_err(), "a link");
        assert!(made.remove_file("a").is_err(), "no file");
        made.remove_all(&|| ()).expect("removed");
        assert!(!path.exists() && precious.join("file").exists());
        fs::remove_dir_all(&outer).expect("removed");
    }

    #[test]
    fn others_may_search_a_folder_only_above_one_that_they_cannot_write_to() {
        use std::os::unix::fs::PermissionsExt;
        let outer = folder("search");
        let path = outer.join("work");
        let work = WorkFolder::make(&path, "mark").expect("made");
        let inner = path.join("mnt");
        fs::create_dir(&inner).expect("a directory");
        let set = |path: &Path, mode| {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("changed");
        };
        let mode = || fs::metadata(&path).expect("there").mode() & 0o7777;
        for (inner_mode, admits, expected) in [
            (0o755, true, 0o711),
            (0o775, false, 0o700),
            (0o711, true, 0o711),
            (0o1777, false, 0o700),
        ] {
            set(&inner, inner_mode);
            assert_eq!(work.admit_others("mnt").expect("changed"), admits);
            assert_eq!(mode(), expected, "{inner_mode:o}");
        }
        fs::remove_dir(&inner).expect("removed");
        symlink(&outer, &inner).expect("a link");
        assert!(!work.admit_others("mnt").expect("no directory"));
        set(&path, 0o711);
        let opened = WorkFolder::open(&path).expect("others cannot write");
        assert!(opened.is_marked("mark").expect("an answer"));
        assert!(!opened.is_private().expect("an answer"));
        for writable in [0o770, 0o707, 0o1777] {
            set(&path, writable);
            let refused = WorkFolder::open(&path).expect_err("others can write");
            assert_eq!(refused.to_string(), "other users may write to it");
        }
        fs::remove_dir_all(&outer).expect("removed");
    }

    #[test]
    fn a_folder_without_a_mark_is_identified_only_while_it_is_empty() {
        let path = folder("bare").join("bare");
        fs::create_dir(&path).expect("a directory");
        let work = WorkFolder::open(&path).expect("ours");
        assert!(work.is_marked("mark").expect("an answer"));
        fs::write(path.join(".fslab-mark"), "").expect("half a mark");
        assert!(work.is_marked("mark").expect("an answer"));
        fs::write(path.join("precious"), "x").expect("a file");
        assert!(!work.is_marked("mark").expect("an answer"));
        fs::remove_file(path.join(".fslab-mark")).expect("removed");
        assert!(!work.is_marked("mark").expect("an answer"));
        symlink("precious", path.join(".fslab-mark")).expect("a link");
        assert!(work.is_marked("x").is_err(), "a link is no mark");
        assert!(work.remove_empty().is_err(), "it is not empty");
        fs::remove_dir_all(path.parent().expect("it has one")).expect("removed");
    }
}
