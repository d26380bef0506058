//! Where an open database stands: whether its path still leads to it, and the copy if not.
//!
//! A file that was removed stays open without a name, and takes every write until it is closed.

use std::cell::Cell;
use std::error::Error;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use crate::bounds::beside;

/// Copies tried, each with another number.
const COPIES_MAX: u32 = 1000;

/// The database's file, and its log once there is one.
#[derive(Debug)]
pub(crate) struct Place {
    path: PathBuf,
    file: (u64, u64),
    log: Cell<Option<(u64, u64)>>,
    copy: Option<PathBuf>,
}

impl Place {
    /// The file that was opened at `path`.
    pub(crate) fn of(path: &Path) -> io::Result<Self> {
        Ok(Self {
            path: std::path::absolute(path)?,
            file: fslab_sys::file_identity(path)?,
            log: Cell::new(None),
            copy: None,
        })
    }

    /// True if the path leads to the file that was opened, and SQLite's log is there if it was.
    pub(crate) fn is_kept(&self) -> bool {
        if self.copy.is_some() {
            return false;
        }
        // Only the last connection that closes removes the log, and this one is open.
        let log = beside(&self.path, "-wal");
        match self.log.get() {
            None => self.log.set(fslab_sys::file_identity(&log).ok()),
            Some(log_file) if !leads_to(&log, log_file) => return false,
            Some(_) => {}
        }
        leads_to(&self.path, self.file)
    }

    /// The copy, if there is one.
    pub(crate) fn copy(&self) -> Option<&Path> {
        self.copy.as_deref()
    }

    pub(crate) fn set_copy(&mut self, copy: PathBuf) {
        self.copy = Some(copy);
    }

    /// Writes all that `connection` sees to a new file: beside the path, whose directory is made
    /// again if it is gone, or in the directory of temporary files.
    pub(crate) fn write_copy(
        &self,
        connection: &Connection,
    ) -> Result<PathBuf, Box<dyn Error + Send + Sync>> {
        let name = self.path.file_name().unwrap_or_default();
        let elsewhere = std::env::temp_dir().join(name);
        let copy = match self.reserve(&self.path) {
            Ok(copy) => copy,
            Err(_) => self.reserve(&elsewhere)?,
        };
        // SQLite attaches it by this name, which is text.
        let name = copy
            .to_str()
            .ok_or_else(|| io::Error::other("its path is not UTF-8"))?;
        let written = connection.execute("VACUUM INTO ?1", [name]);
        match written {
            Ok(_) => Ok(copy),
            Err(error) => {
                // An empty or partial copy is of no use.
                let _ = fs::remove_file(&copy);
                Err(error.into())
            }
        }
    }

    /// A new empty file, which no link and no other program has made.
    fn reserve(&self, path: &Path) -> io::Result<PathBuf> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        for number in 1..=COPIES_MAX {
            let copy = beside(path, &format!(".kept-{number}"));
            match File::options().write(true).create_new(true).open(&copy) {
                Ok(_) => return Ok(copy),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }
}

/// True if `path` leads to the file, or if that is not known.
fn leads_to(path: &Path, file: (u64, u64)) -> bool {
    match fslab_sys::file_identity(path) {
        Ok(found) => found == file,
        Err(error) => !matches!(
            error.kind(),
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
        ),
    }
}
