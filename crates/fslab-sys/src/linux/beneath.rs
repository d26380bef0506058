//! What is beneath an open directory, independent of what its path resolves to.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;

use rustix::fs::{Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

/// Opens `name` in `folder`, if it is on the same mount; `None` before Linux 5.6, or where a
/// container forbids openat2(2).
pub(super) fn open(folder: &OwnedFd, name: &CStr, flags: OFlags) -> io::Result<Option<OwnedFd>> {
    let within = ResolveFlags::NO_XDEV | ResolveFlags::NO_SYMLINKS | ResolveFlags::BENEATH;
    match rustix::fs::openat2(folder, name, flags, Mode::empty(), within) {
        Err(Errno::NOSYS | Errno::PERM) => Ok(None),
        opened => Ok(Some(opened?)),
    }
}

/// Unmounts `name` in `folder`, lazily if it is busy.
pub(super) fn unmount(folder: &OwnedFd, name: &str) -> io::Result<()> {
    let place = format!("/proc/self/fd/{}/{name}", folder.as_raw_fd());
    crate::unmount_lazily(Path::new(&place))
}
