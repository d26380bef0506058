//! A directory that the user named, and files in it whose names the user did not type: links are
//! not followed, as far as paths can show them.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};

use super::AtomicFile;

/// A directory for output.
#[derive(Debug)]
pub struct OutputFolder(PathBuf);

impl OutputFolder {
    /// The directory at `path`; creates it and its parents if they do not exist.
    pub fn create(path: &Path) -> io::Result<Self> {
        fs::create_dir_all(path)?;
        Ok(Self(path.to_owned()))
    }

    /// The directory of the file at `path`, for files beside it.
    pub fn of(path: &Path) -> io::Result<Self> {
        Ok(Self(path.parent().unwrap_or(Path::new("")).to_owned()))
    }

    /// The directory `name` in it; creates it if it does not exist.
    ///
    /// # Errors
    /// `PermissionDenied` if it is a symbolic link or no directory; otherwise those of the system.
    pub fn folder(&self, name: impl AsRef<OsStr>) -> io::Result<Self> {
        let path = self.at(name.as_ref())?;
        match fs::create_dir(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => made?,
        }
        match fs::symlink_metadata(&path)?.is_dir() {
            true => Ok(Self(path)),
            false => Err(denied("it is not a directory")),
        }
    }

    /// Writes the file `name` atomically, and replaces a regular file of that name.
    ///
    /// # Errors
    /// `PermissionDenied` if the name is in use by something else; otherwise those of the system.
    pub fn write(&self, name: impl AsRef<OsStr>, content: &[u8]) -> io::Result<()> {
        let mut file = self.start(name)?;
        file.write_all(content)?;
        file.commit()
    }

    /// Starts the file `name`, as [`OutputFolder::write`] does.
    pub fn start(&self, name: impl AsRef<OsStr>) -> io::Result<AtomicFile> {
        AtomicFile::create(&self.regular(name)?)
    }

    /// Opens the file `name` for reading and writing; creates it if it does not exist.
    pub fn open_kept(&self, name: impl AsRef<OsStr>) -> io::Result<File> {
        let path = self.regular(name)?;
        let mut options = File::options();
        options.read(true).write(true).create(true).truncate(false);
        options.open(path)
    }

    /// The path of `name`, which is free or that of a regular file.
    fn regular(&self, name: impl AsRef<OsStr>) -> io::Result<PathBuf> {
        let path = self.at(name.as_ref())?;
        match fs::symlink_metadata(&path) {
            Ok(there) if !there.is_file() => Err(denied("it is not a regular file")),
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(path),
        }
    }

    fn at(&self, name: &OsStr) -> io::Result<PathBuf> {
        let mut parts = Path::new(name).components();
        match (parts.next(), parts.next()) {
            (Some(Component::Normal(only)), None) => Ok(self.0.join(only)),
            _ => Err(io::ErrorKind::InvalidInput.into()),
        }
    }
}

fn denied(reason: &str) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, reason)
}
