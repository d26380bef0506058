//! Whether the data of a file system is in memory.

use std::io;
use std::path::Path;

/// What keeps the data of `path` in memory; `None` if that is a disk, or unknown.
pub fn memory_below(path: &Path) -> io::Result<Option<String>> {
    Ok(crate::is_in_memory(path)?.then(|| "a file system in memory".to_owned()))
}
