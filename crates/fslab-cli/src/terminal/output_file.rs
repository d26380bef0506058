//! Writes documents to standard output, to a file that the user named, and to a directory that the
//! user named under names that the user did not type.

use std::path::{Path, PathBuf};

use fslab_model::Failure;
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
        Err(error) => Err(Failure::of_chosen_name("write", &path, &error).into()),
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
            Err(error) => Err(Failure::of_chosen_name("open the directory", &path, &error).into()),
        }
    }

    /// Writes the file `name` atomically; returns its path.
    pub(crate) fn write(&self, name: &str, content: &[u8]) -> Result<PathBuf, CommandError> {
        let path = self.path.join(name);
        match self.folder.write(name, content) {
            Ok(()) => Ok(path),
            Err(error) => Err(Failure::of_chosen_name("write", &path, &error).into()),
        }
    }
}
