//! Files and directories by their paths: read, identified, marked and removed.
//!
//! Who may write to a directory follows from its access control list, which the directories below a
//! user's profile inherit from it; it is not examined.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Write};
use std::os::windows::fs::OpenOptionsExt;
use std::os::windows::io::AsRawHandle;
use std::path::{Component, Path, PathBuf};

use windows_sys::Win32::Storage::FileSystem::{
    BY_HANDLE_FILE_INFORMATION, FILE_FLAG_BACKUP_SEMANTICS, FILE_FLAG_OPEN_REPARSE_POINT,
    GetFileInformationByHandle,
};

use super::text::check;

/// File name of the mark.
const MARK: &str = ".fslab-mark";
/// Longest mark.
const MARK_BYTES_MAX: u64 = 256;

/// Volume and number of an open file.
fn identity_of(file: &File) -> io::Result<(u64, u64)> {
    let mut info = BY_HANDLE_FILE_INFORMATION::default();
    // SAFETY: the handle is open, and the structure outlives the call.
    check(unsafe { GetFileInformationByHandle(file.as_raw_handle(), &raw mut info) })?;
    let number = u64::from(info.nFileIndexHigh) << 32 | u64::from(info.nFileIndexLow);
    Ok((info.dwVolumeSerialNumber.into(), number))
}

/// Volume and number of the file or directory at `path`: two paths with the same lead to the same
/// one.
pub fn file_identity(path: &Path) -> io::Result<(u64, u64)> {
    let mut options = File::options();
    let options = options
        .access_mode(0)
        .custom_flags(FILE_FLAG_BACKUP_SEMANTICS);
    identity_of(&options.open(path)?)
}

/// Opens the directory at `path`.
pub(crate) fn open_folder(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    let options = options.read(true).custom_flags(FILE_FLAG_BACKUP_SEMANTICS);
    options.open(path)
}

/// Opens the regular file `path` for reading; its last component must not be a link.
///
/// # Errors
/// Those of CreateFile; `InvalidInput` if it is no regular file.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    let file = options
        .read(true)
        .custom_flags(FILE_FLAG_OPEN_REPARSE_POINT)
        .open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::new(
            ErrorKind::InvalidInput,
            "it is not a regular file",
        )),
    }
}

/// True if `path` still refers to `file`.
///
/// # Errors
/// Those of CreateFile and GetFileInformationByHandle; false if the path does not exist.
pub fn is_named(file: &File, path: &Path) -> io::Result<bool> {
    match file_identity(path) {
        Ok(there) => Ok(there == identity_of(file)?),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Opens a file whose path comes from untrusted input for reading: a regular file alone.
///
/// # Errors
/// Those of CreateFile; `InvalidInput` if it is no regular file.
pub(crate) fn open_untrusted(path: &Path) -> io::Result<File> {
    if fs::metadata(path)?.is_dir() {
        return Err(ErrorKind::IsADirectory.into());
    }
    let file = File::open(path)?;
    if !file.metadata()?.is_file() {
        let why = "it is a device or a pipe, not a file";
        return Err(io::Error::new(ErrorKind::InvalidInput, why));
    }
    Ok(file)
}

/// Opens a file that the user named for reading.
pub fn open_named(path: &Path) -> io::Result<File> {
    open_untrusted(path)
}

/// Removes the directory `path` with its contents, without following links.
pub fn remove_tree(path: &Path) -> io::Result<()> {
    fs::remove_dir_all(path)
}

/// A single path component, or an error.
fn plain(name: &str) -> io::Result<&str> {
    let mut parts = Path::new(name).components();
    match (parts.next(), parts.next()) {
        (Some(Component::Normal(_)), None) => Ok(name),
        _ => Err(ErrorKind::InvalidInput.into()),
    }
}

/// A directory of this user's.
#[derive(Debug)]
pub struct TrustedFolder(PathBuf);

impl TrustedFolder {
    /// The directory at `path`.
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Self(fs::canonicalize(path)?))
    }

    /// The same; it is created if it is missing.
    pub fn open_or_make(path: &Path) -> io::Result<Self> {
        fs::create_dir_all(path)?;
        Self::open(path)
    }

    /// Its path, without links.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Its sorted names.
    pub fn names(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.0)? {
            names.extend(entry?.file_name().into_string().ok());
        }
        names.sort_unstable();
        Ok(names)
    }

    fn at(&self, name: &str) -> io::Result<PathBuf> {
        Ok(self.0.join(plain(name)?))
    }

    /// Opens the file `name` for reading and writing.
    ///
    /// # Errors
    /// `PermissionDenied` if it is no regular file; otherwise that of CreateFile.
    pub fn open_file(&self, name: &str) -> io::Result<File> {
        self.open_with(name, true)
    }

    /// Opens it for reading.
    pub fn open_file_to_read(&self, name: &str) -> io::Result<File> {
        self.open_with(name, false)
    }

    fn open_with(&self, name: &str, write: bool) -> io::Result<File> {
        let mut options = File::options();
        options
            .read(true)
            .write(write)
            .custom_flags(FILE_FLAG_OPEN_REPARSE_POINT);
        let file = options.open(self.at(name)?)?;
        match file.metadata()?.is_file() {
            true => Ok(file),
            false => {
                let text = format!("{} cannot be trusted: it is not a regular file", name);
                Err(io::Error::new(ErrorKind::PermissionDenied, text))
            }
        }
    }

    /// Creates the file `name`, which must not exist.
    pub fn make_file(&self, name: &str) -> io::Result<File> {
        File::options()
            .read(true)
            .write(true)
            .create_new(true)
            .open(self.at(name)?)
    }

    /// Renames the file `name` to `new`, replacing it.
    pub fn rename(&self, name: &str, new: &str) -> io::Result<()> {
        fs::rename(self.at(name)?, self.at(new)?)
    }

    /// Removes the file `name`.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.at(name)?)
    }

    /// True if `name` still refers to `file`.
    pub fn is_named(&self, file: &File, name: &str) -> io::Result<bool> {
        is_named(file, &self.at(name)?)
    }
}

/// A directory made for one trial, identified by a mark and removed afterwards.
#[derive(Debug)]
pub struct WorkFolder(PathBuf);

impl WorkFolder {
    /// Creates the directory `path` with the mark `mark`.
    ///
    /// # Errors
    /// `AlreadyExists`; otherwise those of creating directory and mark.
    pub fn make(path: &Path, mark: &str) -> io::Result<Self> {
        fs::create_dir(path)?;
        let made = Self::open(path)?;
        let mut file = File::options()
            .write(true)
            .create_new(true)
            .open(made.0.join(MARK))?;
        file.write_all(mark.as_bytes())?;
        Ok(made)
    }

    /// Opens the directory `path`, which must be no link.
    pub fn open(path: &Path) -> io::Result<Self> {
        if !fs::symlink_metadata(path)?.is_dir() {
            return Err(ErrorKind::NotADirectory.into());
        }
        Ok(Self(fs::canonicalize(path)?))
    }

    /// Its path, without links.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// True: access is that of the directory above.
    pub fn is_private(&self) -> io::Result<bool> {
        Ok(true)
    }

    /// False: access is not changed.
    pub fn admit_others(&self, _name: &str) -> io::Result<bool> {
        Ok(false)
    }

    /// True if it has the mark `mark`, or is empty since its creation was interrupted.
    pub fn is_marked(&self, mark: &str) -> io::Result<bool> {
        let file = match open_regular(&self.0.join(MARK)) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Ok(fs::read_dir(&self.0)?.next().is_none());
            }
            opened => opened?,
        };
        let mut found = String::new();
        file.take(MARK_BYTES_MAX).read_to_string(&mut found)?;
        Ok(found == mark || (found.is_empty() && fs::read_dir(&self.0)?.count() == 1))
    }

    /// None: nothing is mounted.
    pub fn mounts(&self) -> io::Result<Vec<PathBuf>> {
        Ok(Vec::new())
    }

    /// Refused.
    pub fn unmount(&self, _name: &str) -> io::Result<()> {
        Err(crate::lacking::lacks("umount"))
    }

    /// Removes `name` with its contents, without following links. False if it does not exist.
    pub fn remove_tree(&self, name: &str, alive: &dyn Fn()) -> io::Result<bool> {
        alive();
        let path = self.0.join(plain(name)?);
        let removed = match fs::symlink_metadata(&path) {
            Ok(there) if there.is_dir() => fs::remove_dir_all(&path),
            Ok(_) => fs::remove_file(&path),
            Err(error) => Err(error),
        };
        match removed {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            removed => removed.map(|()| true),
        }
    }

    /// Removes the regular file `name`. False if it does not exist.
    pub fn remove_file(&self, name: &str) -> io::Result<bool> {
        match fs::remove_file(self.0.join(plain(name)?)) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            removed => removed.map(|()| true),
        }
    }

    /// Removes the directory with its contents, the mark last.
    pub fn remove_all(self, alive: &dyn Fn()) -> io::Result<()> {
        for entry in fs::read_dir(&self.0)? {
            let name = entry?.file_name();
            let name = name.to_str().ok_or(ErrorKind::InvalidData)?;
            if name != MARK {
                self.remove_tree(name, alive)?;
            }
        }
        self.remove_empty()
    }

    /// Removes the directory, which must be empty except for its mark.
    pub fn remove_empty(self) -> io::Result<()> {
        for entry in fs::read_dir(&self.0)? {
            if entry?.file_name() != MARK {
                return Err(ErrorKind::DirectoryNotEmpty.into());
            }
        }
        self.remove_file(MARK)?;
        fs::remove_dir(&self.0)
    }
}
