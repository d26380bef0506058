//! Atomic writing of files: under a random name until they are complete.

use std::fs::{self, File};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Attempts with random names.
const NAMES_MAX: u32 = 100;

/// A file that appears at [`AtomicFile::commit`]; dropped earlier, it leaves nothing.
#[derive(Debug)]
pub struct AtomicFile {
    /// `None` only after closing.
    file: Option<File>,
    target: PathBuf,
    draft: PathBuf,
}

impl AtomicFile {
    /// Starts a file that will be at `path`.
    pub fn create(path: &Path) -> io::Result<Self> {
        for _ in 0..NAMES_MAX {
            let draft = path.with_file_name(format!(".fslab-{:016x}.part", random()));
            match File::options().write(true).create_new(true).open(&draft) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                made => {
                    return Ok(Self {
                        file: Some(made?),
                        target: path.to_owned(),
                        draft,
                    });
                }
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    fn file(&mut self) -> io::Result<&mut File> {
        self.file.as_mut().ok_or(io::ErrorKind::BrokenPipe.into())
    }

    /// Extends the file to `bytes` with zeros.
    pub fn extend_to(&self, bytes: u64) -> io::Result<()> {
        self.file
            .as_ref()
            .map_or(Ok(()), |file| file.set_len(bytes))
    }

    /// Moves the complete file into place.
    ///
    /// # Errors
    /// Those of FlushFileBuffers and MoveFileEx; an existing file at the path is unchanged then.
    pub fn commit(mut self) -> io::Result<()> {
        self.file()?.sync_all()?;
        // Closed first: an open file would keep others from opening the target.
        self.file = None;
        fs::rename(&self.draft, &self.target)
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file()?.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file()?.flush()
    }
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        self.file = None;
        // After a commit there is none.
        let _ = fs::remove_file(&self.draft);
    }
}

/// Writes `content` to a file atomically. An existing path that is no regular file is written to
/// directly.
pub fn write_atomically(path: &Path, content: &[u8]) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(there) if !there.is_file() => File::options().write(true).open(path)?.write_all(content),
        _ => {
            let mut file = AtomicFile::create(path)?;
            file.write_all(content)?;
            file.commit()
        }
    }
}

/// Creates a directory in `folder` under an unpredictable name that starts with `prefix`.
pub fn private_folder(folder: &Path, prefix: &str) -> io::Result<PathBuf> {
    for _ in 0..NAMES_MAX {
        let path = folder.join(format!("{prefix}{:016x}", random()));
        match fs::create_dir(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => return made.map(|()| path),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// Checks that this user can create files in `folder`, by creating one.
pub fn try_create_in(folder: &Path) -> io::Result<()> {
    AtomicFile::create(&folder.join("probe")).map(drop)
}

/// The standard library seeds its hash maps with random numbers of the system.
fn random() -> u64 {
    RandomState::new().hash_one(0)
}
