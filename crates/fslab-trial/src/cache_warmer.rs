//! Warms the page cache: reads the phase's files and metadata before the phase is timed.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use fslab_engine::StopFlag;
use fslab_model::{AGED_DIRECTORY, Failure, FailureKind};

/// Bytes per read(2).
const READ_CHUNK_BYTES: usize = 1 << 20;
/// Resident share of the data read, below which it did not fit in memory.
const RESIDENT_SHARE_MIN: f64 = 0.95;

/// The files to warm, and how.
pub(crate) struct CacheWarmer<'a> {
    pub(crate) root: &'a Path,
    /// The phase's files, relative to the root; `None` for all files except those of stages.
    pub(crate) files: Option<Vec<PathBuf>>,
    /// True to read data; false for metadata only.
    pub(crate) include_data: bool,
    pub(crate) stop: &'a StopFlag,
}

impl CacheWarmer<'_> {
    /// Reads the files. Returns a note if less than 95 % of the data stayed resident.
    pub(crate) fn run(&self) -> Result<Option<String>, Failure> {
        let mut found = Vec::new();
        match &self.files {
            Some(files) => found.extend(files.iter().map(|file| self.root.join(file))),
            None => self.walk(self.root, &mut found)?,
        }
        let (mut pages, mut resident) = (0, 0);
        for path in &found {
            self.go_on()?;
            // Files that do not exist yet are made by the phase.
            let metadata = match fs::symlink_metadata(path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                metadata => must("examine", path, metadata)?,
            };
            if self.include_data && metadata.is_file() {
                self.read(path)?;
            }
        }
        for path in found.iter().filter(|_| self.include_data) {
            let Ok(file) = File::open(path) else { continue };
            let (Ok(metadata), Ok(held)) = (file.metadata(), fslab_sys::resident_pages(&file))
            else {
                continue;
            };
            if metadata.is_file() {
                pages += metadata.len().div_ceil(fslab_sys::page_bytes() as u64);
                resident += held;
            }
        }
        let share = resident as f64 / pages.max(1) as f64;
        let too_much = pages > 0 && share < RESIDENT_SHARE_MIN;
        Ok(too_much.then(|| {
            format!(
                "everything was read before the clock, and {:.0} % of it was in memory then",
                share * 100.0
            )
        }))
    }

    /// All paths below `directory` in the order of names: the order of a listing may differ between
    /// mounts.
    fn walk(&self, directory: &Path, found: &mut Vec<PathBuf>) -> Result<(), Failure> {
        self.go_on()?;
        let entries = match fs::read_dir(directory) {
            // lost+found, in a trial without root.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Ok(()),
            entries => must("list", directory, entries)?,
        };
        let mut names = Vec::new();
        for entry in entries {
            let entry = must("list", directory, entry)?;
            let is_directory = must("examine", &entry.path(), entry.file_type())?.is_dir();
            names.push((entry.path(), is_directory));
        }
        names.sort_unstable();
        for (path, is_directory) in names {
            if directory == self.root && path.ends_with(AGED_DIRECTORY) {
                continue;
            }
            found.push(path.clone());
            if is_directory {
                self.walk(&path, found)?;
            }
        }
        Ok(())
    }

    fn read(&self, path: &Path) -> Result<(), Failure> {
        let mut file = match File::open(path) {
            // The phase cannot read it either.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Ok(()),
            file => must("open", path, file)?,
        };
        let mut into = vec![0; READ_CHUNK_BYTES];
        while must("read", path, file.read(&mut into))? > 0 {
            self.go_on()?;
        }
        Ok(())
    }

    fn go_on(&self) -> Result<(), Failure> {
        if self.stop.is_raised() {
            let text = "interrupted while warming the caches";
            return Err(Failure::new(FailureKind::Interrupted, text));
        }
        Ok(())
    }
}

fn must<T>(operation: &str, path: &Path, outcome: io::Result<T>) -> Result<T, Failure> {
    outcome.map_err(|error| {
        let text = format!("cannot {operation} {} to warm the caches", path.display());
        Failure::new(FailureKind::Io, text).because(&error)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resident(path: &Path) -> u64 {
        fslab_sys::resident_pages(&File::open(path).expect("opens")).expect("answers")
    }

    /// Files without pages in the page cache, if the machine's file system supports that.
    fn cold_tree(folder: &Path) -> Option<[PathBuf; 3]> {
        let aged = folder.join(AGED_DIRECTORY);
        fs::create_dir_all(folder.join("a/b")).expect("makes");
        fs::create_dir_all(&aged).expect("makes");
        let files = [folder.join("a/f"), folder.join("a/b/g"), aged.join("h")];
        for file in &files {
            fs::write(file, vec![1; 50_000]).expect("writes");
        }
        fslab_engine::evict(&files).ok().map(|()| files)
    }

    #[test]
    fn data_is_in_memory_afterwards_except_that_of_stages() {
        let folder = tempfile::tempdir().expect("a directory");
        let Some([f, g, aged]) = cold_tree(folder.path()) else {
            eprintln!("skipped: this file system evicts nothing");
            return;
        };
        let stop = StopFlag::new();
        let mut warmer = CacheWarmer {
            root: folder.path(),
            files: Some(vec!["a/f".into(), "missing".into()]),
            include_data: true,
            stop: &stop,
        };
        warmer.run().expect("reads");
        assert!(resident(&f) > 0 && resident(&g) == 0);
        warmer.files = None;
        warmer.include_data = false;
        warmer.run().expect("looks");
        assert_eq!(resident(&g), 0);
        warmer.include_data = true;
        assert_eq!(warmer.run().expect("reads"), None);
        assert!(resident(&g) > 0 && resident(&aged) == 0);
    }
}
