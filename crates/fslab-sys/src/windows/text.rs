//! Texts as Windows takes them: UTF-16 that ends with zero.

use std::ffi::OsStr;
use std::io;
use std::os::windows::ffi::OsStrExt;

/// UTF-16 of `text` with its end.
pub(super) fn wide(text: impl AsRef<OsStr>) -> Vec<u16> {
    text.as_ref().encode_wide().chain([0]).collect()
}

/// The text before the end.
pub(super) fn narrow(text: &[u16]) -> String {
    let length = text.iter().position(|unit| *unit == 0);
    String::from_utf16_lossy(&text[..length.unwrap_or(text.len())])
}

/// Succeeds if a call returned true.
pub(super) fn check(returned: i32) -> io::Result<()> {
    if returned == 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}
