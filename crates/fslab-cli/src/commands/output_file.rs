//! Where a document goes: to standard output, or to a file that is whole or not there.

use std::fs::{self, File};
use std::io::{self, Write};
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
/// is written to as it is.
pub(super) fn put_file(content: &[u8], path: &Path) -> Result<(), CommandError> {
    let failed =
        |error: io::Error| CommandError::io(format!("cannot write {}", path.display()), &error);
    if fs::metadata(path).is_ok_and(|it| !it.is_file()) {
        return fs::write(path, content).map_err(failed);
    }
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.part", std::process::id()));
    let part = path.with_file_name(name);
    let written = File::create(&part)
        .and_then(|mut file| file.write_all(content).and_then(|()| file.sync_all()))
        .and_then(|()| fs::rename(&part, path));
    written.map_err(|error| {
        let _ = fs::remove_file(&part);
        failed(error)
    })
}
