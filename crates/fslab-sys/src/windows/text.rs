//! Texts as Windows takes them: UTF-16 that ends with zero.

use std::ffi::{CStr, OsStr};
use std::io;
use std::os::windows::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// UTF-16 of `text` with its end.
pub(super) fn wide(text: impl AsRef<OsStr>) -> Vec<u16> {
    text.as_ref().encode_wide().chain([0]).collect()
}

/// The text before the end.
pub(super) fn narrow(text: &[u16]) -> String {
    let length = text.iter().position(|unit| *unit == 0);
    String::from_utf16_lossy(&text[..length.unwrap_or(text.len())])
}

/// The path of `name` below `folder`, unless `name` is absolute. Slashes become backslashes: paths
/// in their verbatim form have no others.
pub(super) fn path_of(folder: &Path, name: &CStr) -> io::Result<PathBuf> {
    let name = name.to_str().map_err(|_| io::ErrorKind::InvalidInput)?;
    if name.contains('/') {
        return Ok(folder.join(name.replace('/', "\\")));
    }
    Ok(folder.join(name))
}

/// Succeeds if a call returned true.
pub(super) fn check(returned: i32) -> io::Result<()> {
    if returned == 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}
