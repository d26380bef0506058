//! Paths of names that are C strings.

use std::ffi::CStr;
use std::io;
use std::path::{Path, PathBuf};

/// The path of `name` below `folder`, unless `name` is absolute. On Windows slashes become
/// backslashes: paths in their verbatim form have no others.
pub(super) fn path_of(folder: &Path, name: &CStr) -> io::Result<PathBuf> {
    let name = name.to_str().map_err(|_| io::ErrorKind::InvalidInput)?;
    if cfg!(windows) && name.contains('/') {
        return Ok(folder.join(name.replace('/', "\\")));
    }
    Ok(folder.join(name))
}
