//! A directory and the operations on names below it, each one system call.
//!
//! Names are C strings, so that a caller who makes them in place allocates nothing.

use std::ffi::CStr;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{
    AtFlags, FileType, Mode, OFlags, RawDir, ResolveFlags, Timespec, Timestamps, UTIME_NOW,
    XattrFlags,
};

use crate::DataFile;

/// The extended attribute that is set and read.
const ATTRIBUTE: &CStr = c"user.fslab";

/// An open directory; every name is relative to it unless it is absolute.
#[derive(Debug)]
pub struct NameDirectory(OwnedFd);

/// One entry that a directory listing found.
#[derive(Clone, Copy, Debug)]
pub struct NameEntry<'a> {
    /// Its name.
    pub name: &'a CStr,
    /// Whether it is a directory; `None` where the file system does not say in the listing.
    pub is_directory: Option<bool>,
}

impl NameDirectory {
    /// Opens the directory at `path`.
    ///
    /// # Errors
    /// That of open(2).
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Self(rustix::fs::open(
            path,
            OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC,
            Mode::empty(),
        )?))
    }

    /// Opens the directory `name` below this one.
    ///
    /// # Errors
    /// That of openat(2).
    pub fn open_directory(&self, name: &CStr) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory = rustix::fs::openat(&self.0, name, flags, Mode::empty())?;
        Ok(Self(directory))
    }

    /// Opens the directory `name` below this one, if it is on the same file system, and no symbolic
    /// link leads to it.
    ///
    /// # Errors
    /// That of openat2(2): EXDEV for another file system, ELOOP for a symbolic link.
    pub fn open_directory_within(&self, name: &CStr) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let within = ResolveFlags::NO_XDEV | ResolveFlags::NO_SYMLINKS | ResolveFlags::BENEATH;
        let directory = rustix::fs::openat2(&self.0, name, flags, Mode::empty(), within)?;
        Ok(Self(directory))
    }

    /// mkdirat(2).
    ///
    /// # Errors
    /// That of mkdirat(2).
    pub fn make_directory(&self, name: &CStr) -> io::Result<()> {
        Ok(rustix::fs::mkdirat(&self.0, name, Mode::RWXU)?)
    }

    /// openat(2) of a new file for writing; the name must not exist.
    ///
    /// # Errors
    /// That of openat(2).
    pub fn create_file(&self, name: &CStr) -> io::Result<DataFile> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&self.0, name, flags, Mode::RUSR | Mode::WUSR)?;
        Ok(file.into())
    }

    /// openat(2) of an existing file, for reading or for writing.
    ///
    /// # Errors
    /// That of openat(2).
    pub fn open_file(&self, name: &CStr, write: bool) -> io::Result<DataFile> {
        let access = if write {
            OFlags::WRONLY
        } else {
            OFlags::RDONLY
        };
        let file = rustix::fs::openat(&self.0, name, access | OFlags::CLOEXEC, Mode::empty())?;
        Ok(file.into())
    }

    /// fstatat(2), of the name itself or of what it leads to; gives the length in bytes.
    ///
    /// # Errors
    /// That of fstatat(2).
    pub fn stat(&self, name: &CStr, follows_links: bool) -> io::Result<u64> {
        let flags = if follows_links {
            AtFlags::empty()
        } else {
            AtFlags::SYMLINK_NOFOLLOW
        };
        let stat = rustix::fs::statat(&self.0, name, flags)?;
        Ok(stat.st_size.cast_unsigned())
    }

    /// Whether `name` is a directory, and no symbolic link to one; for where a listing does not
    /// say.
    ///
    /// # Errors
    /// That of fstatat(2).
    pub fn is_directory(&self, name: &CStr) -> io::Result<bool> {
        let stat = rustix::fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(FileType::from_raw_mode(stat.st_mode) == FileType::Directory)
    }

    /// renameat(2).
    ///
    /// # Errors
    /// That of renameat(2).
    pub fn rename(&self, name: &CStr, new: &CStr) -> io::Result<()> {
        Ok(rustix::fs::renameat(&self.0, name, &self.0, new)?)
    }

    /// linkat(2): `new` becomes another name of the file `name`.
    ///
    /// # Errors
    /// That of linkat(2).
    pub fn link(&self, name: &CStr, new: &CStr) -> io::Result<()> {
        Ok(rustix::fs::linkat(
            &self.0,
            name,
            &self.0,
            new,
            AtFlags::empty(),
        )?)
    }

    /// symlinkat(2): `new` becomes a link with the text `target`.
    ///
    /// # Errors
    /// That of symlinkat(2).
    pub fn symlink(&self, target: &CStr, new: &CStr) -> io::Result<()> {
        Ok(rustix::fs::symlinkat(target, &self.0, new)?)
    }

    /// readlinkat(2); gives the length of the link's text.
    ///
    /// # Errors
    /// That of readlinkat(2).
    pub fn read_link(&self, name: &CStr) -> io::Result<usize> {
        let mut text = [MaybeUninit::uninit(); 4096];
        let (text, _) = rustix::fs::readlinkat_raw(&self.0, name, &mut text)?;
        Ok(text.len())
    }

    /// fchmodat(2).
    ///
    /// # Errors
    /// That of fchmodat(2).
    pub fn change_mode(&self, name: &CStr, mode: u32) -> io::Result<()> {
        let mode = Mode::from_raw_mode(mode);
        Ok(rustix::fs::chmodat(&self.0, name, mode, AtFlags::empty())?)
    }

    /// fchownat(2) to the caller's own user and group.
    ///
    /// # Errors
    /// That of fchownat(2).
    pub fn change_owner(&self, name: &CStr) -> io::Result<()> {
        let user = Some(rustix::process::geteuid());
        let group = Some(rustix::process::getegid());
        let flags = AtFlags::SYMLINK_NOFOLLOW;
        Ok(rustix::fs::chownat(&self.0, name, user, group, flags)?)
    }

    /// utimensat(2): both times become now.
    ///
    /// # Errors
    /// That of utimensat(2).
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
    ///
    /// # Errors
    /// That of unlinkat(2).
    pub fn unlink(&self, name: &CStr) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.0, name, AtFlags::empty())?)
    }

    /// unlinkat(2) of an empty directory.
    ///
    /// # Errors
    /// That of unlinkat(2).
    pub fn remove_directory(&self, name: &CStr) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.0, name, AtFlags::REMOVEDIR)?)
    }

    /// Lists this freshly opened directory through `buffer`, one call of getdents64(2) for each
    /// filling of it; `.` and `..` are left out. Stops where `visit` fails.
    ///
    /// # Errors
    /// That of getdents64(2), or that of `visit`.
    pub fn list(
        &self,
        buffer: &mut [MaybeUninit<u8>],
        visit: &mut dyn FnMut(NameEntry<'_>) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut entries = RawDir::new(&self.0, buffer);
        while let Some(entry) = entries.next() {
            let entry = entry?;
            let name = entry.file_name();
            if name == c"." || name == c".." {
                continue;
            }
            let is_directory = match entry.file_type() {
                FileType::Unknown => None,
                kind => Some(kind == FileType::Directory),
            };
            visit(NameEntry { name, is_directory })?;
        }
        Ok(())
    }

    /// fsync(2) of the directory.
    ///
    /// # Errors
    /// That of fsync(2).
    pub fn fsync(&self) -> io::Result<()> {
        Ok(rustix::fs::fsync(&self.0)?)
    }

    /// syncfs(2) of the file system that holds the directory.
    ///
    /// # Errors
    /// That of syncfs(2), which reports failed write-back.
    pub fn sync_file_system(&self) -> io::Result<()> {
        Ok(rustix::fs::syncfs(&self.0)?)
    }
}

/// setxattr(2) of `user.fslab` on an absolute path.
///
/// # Errors
/// That of setxattr(2): EOPNOTSUPP where the file system keeps no user attributes.
pub fn set_attribute(path: &CStr, value: &[u8]) -> io::Result<()> {
    Ok(rustix::fs::setxattr(
        path,
        ATTRIBUTE,
        value,
        XattrFlags::empty(),
    )?)
}

/// getxattr(2) of `user.fslab` on an absolute path; gives the length of the value.
///
/// # Errors
/// That of getxattr(2): ENODATA where it was never set.
pub fn get_attribute(path: &CStr, value: &mut [u8]) -> io::Result<usize> {
    Ok(rustix::fs::getxattr(path, ATTRIBUTE, value)?)
}

/// truncate(2) of an absolute path.
///
/// # Errors
/// That of truncate(2).
pub fn truncate_path(path: &CStr, length: u64) -> io::Result<()> {
    let length = i64::try_from(length).map_err(|_| io::ErrorKind::InvalidInput)?;
    // SAFETY: `path` is a C string that outlives the call.
    let status = unsafe { libc::truncate(path.as_ptr(), length) };
    if status == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}
