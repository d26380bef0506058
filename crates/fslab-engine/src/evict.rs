//! Evicts files from the page cache, and checks the result.

use std::fs::File;
use std::path::Path;

use fslab_model::FailureKind;
use fslab_sys::{DataFile, FileAdvice};

use crate::EngineError;
use crate::error::FILE_MISSING;

/// Attempts to drop a page that is temporarily in use.
const ATTEMPTS: u32 = 5;

/// Writes the files back, asks the kernel to drop their pages, and checks that it did.
///
/// Only data is cold afterwards; inodes and directories are not.
///
/// # Errors
/// `Unsupported` if pages stay, as on tmpfs or in a file that is mapped or open elsewhere;
/// otherwise that of open(2), fsync(2), posix_fadvise(2) or mincore(2).
pub fn evict(paths: &[impl AsRef<Path>]) -> Result<(), EngineError> {
    paths.iter().try_for_each(|path| evict_one(path.as_ref()))
}

fn evict_one(path: &Path) -> Result<(), EngineError> {
    let file = File::open(path)
        .map_err(|e| EngineError::io("open", path, e).hint_if_missing(FILE_MISSING))?;
    file.sync_all()
        .map_err(|e| EngineError::io("fsync", path, e))?;
    let again = file
        .try_clone()
        .map_err(|e| EngineError::io("open", path, e))?;
    let advised = DataFile::from(again);
    let mut resident = 0;
    for _ in 0..ATTEMPTS {
        advised
            .advise(FileAdvice::DontNeed)
            .map_err(|e| EngineError::io("evict", path, e))?;
        resident = fslab_sys::resident_pages(&file)
            .map_err(|e| EngineError::io("look for cached pages of", path, e))?;
        if resident == 0 {
            return Ok(());
        }
        std::thread::yield_now();
    }
    let message = format!(
        "{} keeps {resident} pages in the page cache",
        path.display()
    );
    Err(EngineError::unsupported(message)
        .of_kind(FailureKind::Unsupported)
        .hint("a file system that lives in memory cannot be evicted; elsewhere the file is in use"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_does_not_exist_is_an_error_with_its_path() {
        let error = evict(&["/nonexistent/file"]).expect_err("is not there");
        assert_eq!(error.to_string(), "cannot open /nonexistent/file");
        // Windows says that the directory is not there.
        let errno = if cfg!(windows) { 3 } else { 2 };
        assert_eq!(error.errno(), Some(errno));
    }

    /// Where it can be seen: see `fslab platform`.
    #[cfg(target_os = "linux")]
    #[test]
    fn written_data_is_cold_afterwards_or_there_is_an_error() {
        let folder = tempfile::tempdir().expect("a directory");
        let path = folder.path().join("f");
        std::fs::write(&path, vec![1_u8; 100_000]).expect("writes");
        let evicted = evict(&[&path]);
        let file = File::open(&path).expect("opens");
        let resident = fslab_sys::resident_pages(&file).expect("answers");
        match evicted {
            Ok(()) => assert_eq!(resident, 0),
            Err(error) => {
                assert_eq!(error.kind(), FailureKind::Unsupported);
                assert!(resident > 0);
            }
        }
    }
}
