//! The extended attribute of metadata workloads: on Linux and macOS.

use std::ffi::CStr;
use std::io;

use rustix::fs::XattrFlags;

const ATTRIBUTE: &CStr = c"user.fslab";

/// setxattr(2) of `user.fslab` on an absolute path.
///
/// # Errors
/// That of setxattr(2): EOPNOTSUPP if the file system has no user attributes.
pub fn set_attribute(path: &CStr, value: &[u8]) -> io::Result<()> {
    Ok(rustix::fs::setxattr(
        path,
        ATTRIBUTE,
        value,
        XattrFlags::empty(),
    )?)
}

/// getxattr(2) of `user.fslab` on an absolute path; returns the length of the value.
///
/// # Errors
/// That of getxattr(2): ENODATA, on macOS ENOATTR, if it was never set.
pub fn get_attribute(path: &CStr, value: &mut [u8]) -> io::Result<usize> {
    Ok(rustix::fs::getxattr(path, ATTRIBUTE, value)?)
}
