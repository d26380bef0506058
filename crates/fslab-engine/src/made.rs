//! What jobs that ended at a stonewall have made, for the jobs that use it.

use std::collections::BTreeMap;
use std::path::Path;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};

use crate::EngineError;

/// The part that each thread made of a file or of a tree of files. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Made(Arc<Mutex<BTreeMap<PathBuf, Part>>>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Part {
    /// Threads of all ranks.
    threads: u32,
    /// Bytes or files of each.
    each: u64,
}

/// Qualifies the figures of a job with a stonewall, whose fastest thread did `most`.
pub(crate) fn stonewall_note(most: u64, what: &str) -> String {
    format!(
        "each thread worked until it had done as much as the fastest at the stonewall: {most} {what}"
    )
}

impl Made {
    /// Notes that `threads` threads have made `each` bytes or files of `name`.
    pub(crate) fn note(&self, name: &Path, threads: u32, each: u64) {
        self.lock().insert(name.to_owned(), Part { threads, each });
    }

    /// Forgets `name`: it is complete, or gone.
    pub(crate) fn forget(&self, name: &Path) {
        self.lock().remove(name);
    }

    /// True if a part of `name` is there.
    pub(crate) fn has(&self, name: &Path) -> bool {
        self.lock().contains_key(name)
    }

    /// The bytes or files of `name` that each of `threads` threads has; all for `None`.
    ///
    /// # Errors
    /// Of kind `BadInput` for another number of threads than made it.
    pub(crate) fn of(&self, name: &Path, threads: u32) -> Result<Option<u64>, EngineError> {
        match self.lock().get(name) {
            None => Ok(None),
            Some(part) if part.threads == threads => Ok(Some(part.each)),
            Some(part) => Err(EngineError::bad_input(format!(
                "{} was made by {} threads until a stonewall, and cannot be divided among {threads}",
                name.display(),
                part.threads,
            ))
            .hint("use as many threads as the phase that made it, or make it without `stonewall`")),
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<PathBuf, Part>> {
        self.0.lock().expect("no thread panics with the lock")
    }
}
