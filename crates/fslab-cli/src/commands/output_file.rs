//! Where a document goes: to standard output, or to a file that is whole or not there.

use std::ffi::OsString;
use std::path::Path;

use crate::exit::CommandError;
use crate::screen;

/// Writes `text` to `file`, or to standard output without one.
pub(super) fn put(text: &str, file: Option<&Path>) -> Result<(), CommandError> {
    match file {
        None => screen::print(text),
        Some(path) => put_file(text.as_bytes(), path),
    }
}

/// Writes `bytes` to `path`. Half a document is not left behind.
pub(super) fn put_file(bytes: &[u8], path: &Path) -> Result<(), CommandError> {
    let cannot = |error| CommandError::io(format!("cannot write {}", path.display()), &error);
    // What is no plain file, such as /dev/stdout, is written to as it is.
    if path.exists() && !path.is_file() {
        return std::fs::write(path, bytes).map_err(cannot);
    }
    let mut name = path.file_name().map(OsString::from).unwrap_or_default();
    name.push(".part");
    let part = path.with_file_name(name);
    std::fs::write(&part, bytes)
        .and_then(|()| std::fs::rename(&part, path))
        .map_err(|error| {
            let _ = std::fs::remove_file(&part);
            cannot(error)
        })
}
