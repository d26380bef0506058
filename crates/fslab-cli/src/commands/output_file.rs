//! Where a document goes: to standard output, or to a file that is whole or not there.

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

/// Writes a file that is there as a whole or not at all. What is no regular file, such as a pipe,
/// is written to as it is; a symbolic link is followed, as `>` follows it.
pub(super) fn put_file(content: &[u8], path: &Path) -> Result<(), CommandError> {
    fslab_sys::write_atomically(path, content)
        .map_err(|error| CommandError::io(format!("cannot write {}", path.display()), &error))
}
