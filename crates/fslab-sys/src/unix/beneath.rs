//! What is beneath an open directory.

use std::ffi::CStr;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::OFlags;

/// `None`: no call opens what is on the same mount alone.
pub(super) fn open(_folder: &OwnedFd, _name: &CStr, _flags: OFlags) -> io::Result<Option<OwnedFd>> {
    Ok(None)
}

/// Refused, as every unmount.
pub(super) fn unmount(_folder: &OwnedFd, name: &str) -> io::Result<()> {
    crate::unmount_lazily(Path::new(name))
}
