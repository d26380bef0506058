//! A directory and operations on names in it.
//!
//! Each name is resolved by its full path: Windows has no calls relative to an open directory for
//! programs. The path is built for every call, within its measured time.

use std::ffi::{CStr, CString};
use std::fs::{self, File, FileTimes};
use std::io;
use std::mem::MaybeUninit;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::{DataFile, NameEntry};

/// A directory; names are relative to it unless absolute.
#[derive(Debug)]
pub struct NameDirectory(PathBuf);

impl NameDirectory {
    /// The directory at `path`.
    pub fn open(path: &Path) -> io::Result<Self> {
        if !fs::metadata(path)?.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        Ok(Self(path.to_owned()))
    }

    /// The directory `name` in this one.
    pub fn open_directory(&self, name: &CStr) -> io::Result<Self> {
        Self::open(&path_of(&self.0, name)?)
    }

    /// The same, if it is no symbolic link or junction.
    pub fn open_directory_within(&self, name: &CStr) -> io::Result<Self> {
        let path = path_of(&self.0, name)?;
        if !fs::symlink_metadata(&path)?.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        Ok(Self(path))
    }

    /// mkdir(2) or CreateDirectory.
    pub fn make_directory(&self, name: &CStr) -> io::Result<()> {
        fs::create_dir(path_of(&self.0, name)?)
    }

    /// CreateFile for writing; the name must not exist.
    pub fn create_file(&self, name: &CStr) -> io::Result<DataFile> {
        let path = path_of(&self.0, name)?;
        Ok(File::options()
            .write(true)
            .create_new(true)
            .open(path)?
            .into())
    }

    /// CreateFile of an existing file.
    pub fn open_file(&self, name: &CStr, write: bool) -> io::Result<DataFile> {
        let path = path_of(&self.0, name)?;
        Ok(File::options().read(!write).write(write).open(path)?.into())
    }

    /// The attributes of the name or of a link's target; returns the length in bytes.
    pub fn stat(&self, name: &CStr, follows_links: bool) -> io::Result<u64> {
        let path = path_of(&self.0, name)?;
        let metadata = match follows_links {
            true => fs::metadata(path),
            false => fs::symlink_metadata(path),
        };
        Ok(metadata?.len())
    }

    /// True if `name` is a directory, and no link to one.
    pub fn is_directory(&self, name: &CStr) -> io::Result<bool> {
        Ok(fs::symlink_metadata(path_of(&self.0, name)?)?.is_dir())
    }

    /// rename(2) or MoveFileEx, which replaces.
    pub fn rename(&self, name: &CStr, new: &CStr) -> io::Result<()> {
        fs::rename(path_of(&self.0, name)?, path_of(&self.0, new)?)
    }

    /// link(2) or CreateHardLink.
    pub fn link(&self, name: &CStr, new: &CStr) -> io::Result<()> {
        fs::hard_link(path_of(&self.0, name)?, path_of(&self.0, new)?)
    }

    /// CreateSymbolicLink, which needs a privilege or the developer mode.
    pub fn symlink(&self, target: &CStr, new: &CStr) -> io::Result<()> {
        crate::os::symlink(path_of(Path::new(""), target)?, path_of(&self.0, new)?)
    }

    /// The length of a link's target.
    pub fn read_link(&self, name: &CStr) -> io::Result<usize> {
        Ok(fs::read_link(path_of(&self.0, name)?)?.as_os_str().len())
    }

    /// Refused: access is not by modes.
    pub fn change_mode(&self, _name: &CStr, _mode: u32) -> io::Result<()> {
        Err(refused("chmod: access on Windows is not by modes"))
    }

    /// Refused: owners are no numbers.
    pub fn change_owner(&self, _name: &CStr) -> io::Result<()> {
        Err(refused("chown: owners on Windows are no numbers"))
    }

    /// SetFileTime: both times become now.
    pub fn touch(&self, name: &CStr) -> io::Result<()> {
        let file = File::options().write(true).open(path_of(&self.0, name)?)?;
        let now = SystemTime::now();
        file.set_times(FileTimes::new().set_accessed(now).set_modified(now))
    }

    /// unlink(2) or DeleteFile.
    pub fn unlink(&self, name: &CStr) -> io::Result<()> {
        fs::remove_file(path_of(&self.0, name)?)
    }

    /// rmdir(2) or RemoveDirectory.
    pub fn remove_directory(&self, name: &CStr) -> io::Result<()> {
        fs::remove_dir(path_of(&self.0, name)?)
    }

    /// Lists the directory with FindFirstFile and FindNextFile, whose buffer is the system's. Stops
    /// at an error of `visit`.
    pub fn list(
        &self,
        _buffer: &mut [MaybeUninit<u8>],
        visit: &mut dyn FnMut(NameEntry<'_>) -> io::Result<()>,
    ) -> io::Result<()> {
        for entry in fs::read_dir(&self.0)? {
            let entry = entry?;
            let name = CString::new(entry.file_name().into_encoded_bytes())?;
            let is_directory = Some(entry.file_type()?.is_dir());
            visit(NameEntry {
                name: &name,
                is_directory,
            })?;
        }
        Ok(())
    }

    /// Refused: there is no such sync.
    pub fn fsync(&self) -> io::Result<()> {
        Err(refused("fsync of a directory: Windows has no such call"))
    }

    /// FlushFileBuffers of every file below.
    pub fn sync_file_system(&self) -> io::Result<()> {
        crate::sync_file_system(&self.0)
    }
}

/// SetEndOfFile of an absolute path.
pub fn truncate_path(path: &CStr, length: u64) -> io::Result<()> {
    let path = path_of(Path::new(""), path)?;
    File::options().write(true).open(path)?.set_len(length)
}

/// The path of `name` below `folder`, unless `name` is absolute. Slashes become backslashes: paths
/// in their verbatim form have no others.
fn path_of(folder: &Path, name: &CStr) -> io::Result<PathBuf> {
    let name = name.to_str().map_err(|_| io::ErrorKind::InvalidInput)?;
    Ok(folder.join(name.replace('/', "\\")))
}

fn refused(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, what)
}
