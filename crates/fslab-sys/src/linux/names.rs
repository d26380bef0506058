//! A directory and operations on names in it, each one system call: those of every Unix.
//!
//! Names are C strings, so that callers can build them in place without allocation.

use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::path::Path;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, RawMode, Timespec, Timestamps, UTIME_NOW};

use super::status::check;
use crate::{DataFile, NameEntry};

/// An open directory; names are relative to it unless absolute.
#[derive(Debug)]
pub struct NameDirectory(pub(super) File);

impl NameDirectory {
    /// Opens the directory at `path`.
    pub fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory = rustix::fs::open(path, flags, Mode::empty())?;
        Ok(Self(directory.into()))
    }

    /// Opens the directory `name` in this one.
    #[inline]
    pub fn open_directory(&self, name: &CStr) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory = rustix::fs::openat(&self.0, name, flags, Mode::empty())?;
        Ok(Self(directory.into()))
    }

    /// mkdirat(2).
    #[inline]
    pub fn make_directory(&self, name: &CStr) -> io::Result<()> {
        Ok(rustix::fs::mkdirat(&self.0, name, Mode::RWXU)?)
    }

    /// Creates a file for writing with openat(2); the name must not exist.
    #[inline]
    pub fn create_file(&self, name: &CStr) -> io::Result<DataFile> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&self.0, name, flags, Mode::RUSR | Mode::WUSR)?;
        Ok(file.into())
    }

    /// Opens an existing file with openat(2).
    #[inline]
    pub fn open_file(&self, name: &CStr, write: bool) -> io::Result<DataFile> {
        let access = if write {
            OFlags::WRONLY
        } else {
            OFlags::RDONLY
        };
        let file = rustix::fs::openat(&self.0, name, access | OFlags::CLOEXEC, Mode::empty())?;
        Ok(file.into())
    }

    /// fstatat(2) of the name or of a link's target; returns the length in bytes.
    #[inline]
    pub fn stat(&self, name: &CStr, follows_links: bool) -> io::Result<u64> {
        let flags = if follows_links {
            AtFlags::empty()
        } else {
            AtFlags::SYMLINK_NOFOLLOW
        };
        let stat = rustix::fs::statat(&self.0, name, flags)?;
        Ok(stat.st_size.cast_unsigned())
    }

    /// True if `name` is a directory, and no symbolic link to one; for listings without types.
    pub fn is_directory(&self, name: &CStr) -> io::Result<bool> {
        let stat = rustix::fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(FileType::from_raw_mode(stat.st_mode) == FileType::Directory)
    }

    /// renameat(2).
    #[inline]
    pub fn rename(&self, name: &CStr, new: &CStr) -> io::Result<()> {
        Ok(rustix::fs::renameat(&self.0, name, &self.0, new)?)
    }

    /// linkat(2): `new` becomes another name of the file `name`.
    #[inline]
    pub fn link(&self, name: &CStr, new: &CStr) -> io::Result<()> {
        Ok(rustix::fs::linkat(
            &self.0,
            name,
            &self.0,
            new,
            AtFlags::empty(),
        )?)
    }

    /// symlinkat(2): `new` becomes a link to `target`.
    #[inline]
    pub fn symlink(&self, target: &CStr, new: &CStr) -> io::Result<()> {
        Ok(rustix::fs::symlinkat(target, &self.0, new)?)
    }

    /// readlinkat(2); returns the length of the target.
    #[inline]
    pub fn read_link(&self, name: &CStr) -> io::Result<usize> {
        let mut text = [MaybeUninit::uninit(); 4096];
        let (text, _) = rustix::fs::readlinkat_raw(&self.0, name, &mut text)?;
        Ok(text.len())
    }

    /// fchmodat(2).
    #[inline]
    pub fn change_mode(&self, name: &CStr, mode: u32) -> io::Result<()> {
        let mode = Mode::from_raw_mode(mode as RawMode);
        Ok(rustix::fs::chmodat(&self.0, name, mode, AtFlags::empty())?)
    }

    /// fchownat(2) to the caller's user and group.
    #[inline]
    pub fn change_owner(&self, name: &CStr) -> io::Result<()> {
        let user = Some(rustix::process::geteuid());
        let group = Some(rustix::process::getegid());
        let flags = AtFlags::SYMLINK_NOFOLLOW;
        Ok(rustix::fs::chownat(&self.0, name, user, group, flags)?)
    }

    /// utimensat(2): sets both times to now.
    #[inline]
    pub fn touch(&self, name: &CStr) -> io::Result<()> {
        let now = Timespec {
            tv_sec: 0,
            tv_nsec: UTIME_NOW,
        };
        let times = Timestamps {
            last_access: now,
            last_modification: now,
        };
        Ok(rustix::fs::utimensat(
            &self.0,
            name,
            &times,
            AtFlags::SYMLINK_NOFOLLOW,
        )?)
    }

    /// unlinkat(2) of a file.
    #[inline]
    pub fn unlink(&self, name: &CStr) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.0, name, AtFlags::empty())?)
    }

    /// unlinkat(2) of an empty directory.
    #[inline]
    pub fn remove_directory(&self, name: &CStr) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.0, name, AtFlags::REMOVEDIR)?)
    }

    /// fsync(2) of the directory; F_FULLFSYNC on macOS.
    pub fn fsync(&self) -> io::Result<()> {
        self.0.sync_all()
    }
}

/// Gives an entry of a listing to `visit`, unless it is `.` or `..`: then false.
#[inline]
pub(super) fn visit_entry(
    name: &CStr,
    kind: FileType,
    visit: &mut dyn FnMut(NameEntry<'_>) -> io::Result<()>,
) -> io::Result<bool> {
    if name == c"." || name == c".." {
        return Ok(false);
    }
    let is_directory = match kind {
        FileType::Unknown => None,
        kind => Some(kind == FileType::Directory),
    };
    visit(NameEntry { name, is_directory })?;
    Ok(true)
}

/// truncate(2) of an absolute path.
pub fn truncate_path(path: &CStr, length: u64) -> io::Result<()> {
    let length = i64::try_from(length).map_err(|_| io::ErrorKind::InvalidInput)?;
    // SAFETY: `path` is a C string that outlives the call.
    let status = unsafe { libc::truncate(path.as_ptr(), length) };
    check(status)
}
