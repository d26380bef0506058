//! Writes documents to standard output, to a file that the user named, and to a directory that the
//! user named under names that the user did not type.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use fslab_sys::{AtomicFile, OutputFolder};

use crate::exit::CommandError;
use crate::terminal::screen;

/// Writes `content` to `file`, or to standard output without one.
pub(crate) fn put(content: &[u8], file: Option<&Path>) -> Result<(), CommandError> {
    match file {
        None => screen::print_bytes(content),
        Some(path) => put_file(content, path),
    }
}

/// Writes a regular file atomically. Other files, such as pipes, are written to directly. A
/// symbolic link is followed, as by `>`.
pub(crate) fn put_file(content: &[u8], path: &Path) -> Result<(), CommandError> {
    fslab_sys::write_atomically(path, content)
        .map_err(|error| CommandError::io(format!("cannot write {}", path.display()), &error))
}

/// Starts the file at `typed`; without one, the file `name` in the current directory.
pub(crate) fn start(
    typed: Option<&Path>,
    name: &str,
) -> Result<(PathBuf, AtomicFile), CommandError> {
    let (path, started) = match typed {
        Some(path) => (path.to_owned(), AtomicFile::create(path)),
        None => {
            let folder = OutputFolder::create(Path::new("."));
            (
                PathBuf::from(name),
                folder.and_then(|folder| folder.start(name)),
            )
        }
    };
    match started {
        Ok(file) => Ok((path, file)),
        Err(error) => Err(refused("write", &path, &error)),
    }
}

/// A directory that the user named; nothing in it is followed.
pub(crate) struct OutputDirectory {
    path: PathBuf,
    folder: OutputFolder,
}

impl OutputDirectory {
    /// Opens the directory, and creates it if it does not exist.
    pub(crate) fn create(path: &Path) -> Result<Self, CommandError> {
        let folder = OutputFolder::create(path).map_err(|error| {
            CommandError::io(
                format!("cannot open the directory {}", path.display()),
                &error,
            )
        })?;
        Ok(Self {
            path: path.to_owned(),
            folder,
        })
    }

    /// The directory `name` in it, which is created if it does not exist.
    pub(crate) fn folder(&self, name: &str) -> Result<Self, CommandError> {
        let path = self.path.join(name);
        match self.folder.folder(name) {
            Ok(folder) => Ok(Self { path, folder }),
            Err(error) => Err(refused("open the directory", &path, &error)),
        }
    }

    /// Writes the file `name` atomically; returns its path.
    pub(crate) fn write(&self, name: &str, content: &[u8]) -> Result<PathBuf, CommandError> {
        let path = self.path.join(name);
        match self.folder.write(name, content) {
            Ok(()) => Ok(path),
            Err(error) => Err(refused("write", &path, &error)),
        }
    }
}

/// The error of a file whose name the user did not type.
pub(crate) fn refused(doing: &str, path: &Path, error: &io::Error) -> CommandError {
    let mut error_of_command =
        CommandError::io(format!("cannot {doing} {}", path.display()), error);
    // The kernel's own refusals have a number.
    if error.kind() == io::ErrorKind::PermissionDenied && error.raw_os_error().is_none() {
        let name = path
            .file_name()
            .unwrap_or(OsStr::new("it"))
            .to_string_lossy();
        error_of_command.failure.hint = Some(format!(
            "fslab chose this name and follows no link there: remove {name}, or use another directory"
        ));
    }
    error_of_command
}
