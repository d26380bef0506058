//! The extended attribute of metadata workloads: on FreeBSD.

use std::ffi::CStr;
use std::io;

/// The attribute's name in the namespace of users.
const NAME: &CStr = c"fslab";

/// extattr_set_file(2) on an absolute path.
///
/// # Errors
/// That of extattr_set_file(2): EOPNOTSUPP if the file system has no attributes.
pub fn set_attribute(path: &CStr, value: &[u8]) -> io::Result<()> {
    // SAFETY: the strings and the value outlive the call, and the length is the value's.
    let written = unsafe {
        libc::extattr_set_file(
            path.as_ptr(),
            libc::EXTATTR_NAMESPACE_USER,
            NAME.as_ptr(),
            value.as_ptr().cast(),
            value.len(),
        )
    };
    length_of(written).map(drop)
}

/// extattr_get_file(2) on an absolute path; returns the length of the value.
///
/// # Errors
/// That of extattr_get_file(2): ENOATTR if it was never set.
pub fn get_attribute(path: &CStr, value: &mut [u8]) -> io::Result<usize> {
    // SAFETY: the strings and the buffer outlive the call, and the length is the buffer's.
    let read = unsafe {
        libc::extattr_get_file(
            path.as_ptr(),
            libc::EXTATTR_NAMESPACE_USER,
            NAME.as_ptr(),
            value.as_mut_ptr().cast(),
            value.len(),
        )
    };
    length_of(read)
}

/// What a call returned: a length, or -1 with errno.
fn length_of(returned: libc::ssize_t) -> io::Result<usize> {
    usize::try_from(returned).map_err(|_| io::Error::last_os_error())
}
