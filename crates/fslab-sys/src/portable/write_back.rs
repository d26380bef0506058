//! Writing back a directory: file by file, which needs no privilege.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use crate::device_of;

/// Syncs every file below the directory `path`; that of a volume would need a privilege on Windows.
pub fn sync_file_system(path: &Path) -> io::Result<()> {
    let mut folders = vec![path.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            if kind.is_dir() {
                folders.push(entry.path());
            } else if kind.is_file() && !entry.metadata()?.permissions().readonly() {
                File::options().write(true).open(entry.path())?.sync_all()?;
            }
        }
    }
    Ok(())
}

/// The directory of a trial, written back by [`sync_file_system`].
#[derive(Debug)]
pub struct WriteBackWatch(PathBuf);

impl WriteBackWatch {
    /// Watches the directory `path`.
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Self(fs::canonicalize(path)?))
    }

    /// Writes back all dirty data of files in the directory. An error that another handle has seen
    /// is not reported again.
    pub fn sync(&self) -> io::Result<()> {
        sync_file_system(&self.0)
    }

    /// The number of the volume.
    pub fn device(&self) -> io::Result<u64> {
        device_of(&self.0)
    }
}
