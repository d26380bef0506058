//! Closing inherited files.

/// Closes the descriptors from `first` to `last` in a forked process. If the kernel lacks the call,
/// they stay open.
///
/// # Safety
/// The process uses none of these files, and their owners are never dropped, since it ends by
/// _exit.
pub(crate) unsafe fn close_files(first: u32, last: u32) {
    // SAFETY: the call takes numbers.
    unsafe { libc::syscall(libc::SYS_close_range, first, last, 0_u32) };
}
