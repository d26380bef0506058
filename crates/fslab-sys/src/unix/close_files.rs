//! Closing inherited files.

/// Closes the descriptors from `first` to `last` in a forked process.
///
/// # Safety
/// The process uses none of these files, and their owners are never dropped, since it ends by
/// _exit.
pub(crate) unsafe fn close_files(first: u32, last: u32) {
    // SAFETY: the call takes nothing.
    let limit = unsafe { libc::getdtablesize() }.cast_unsigned();
    for descriptor in first..limit.min(last.saturating_add(1)) {
        // SAFETY: the call takes a number.
        unsafe { libc::close(descriptor.cast_signed()) };
    }
}
