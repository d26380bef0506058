//! Results of system calls.

use std::io;

/// The errno for a call that returned a status other than 0.
#[inline]
pub(crate) fn check(status: impl Into<i64>) -> io::Result<()> {
    match status.into() {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
