//! Writes a document to standard output, or atomically to a file.

use std::path::Path;

use crate::exit::CommandError;
use crate::screen;

/// Writes `content` to `file`, or to standard output without one.
pub(super) fn put(content: &[u8], file: Option<&Path>) -> Result<(), CommandError> {
    match file {
        None => screen::print_bytes(content),
        Some(path) => put_file(content, path),
    }
}

/// Writes a regular file atomically. Other files, such as pipes, are written to directly. A
/// symbolic link is followed, as by `>`.
pub(super) fn put_file(content: &[u8], path: &Path) -> Result<(), CommandError> {
    fslab_sys::write_atomically(path, content)
        .map_err(|error| CommandError::io(format!("cannot write {}", path.display()), &error))
}
