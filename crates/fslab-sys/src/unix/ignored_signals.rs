//! The signals that this process ignores.

/// Whether this process ignores `signal`.
pub(super) fn is_ignored(signal: i32) -> bool {
    // SAFETY: sigaction consists of integers and a pointer, for which zero is valid.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: no action is set, and the structure outlives the call.
    let status = unsafe { libc::sigaction(signal, std::ptr::null(), &raw mut action) };
    status == 0 && action.sa_sigaction == libc::SIG_IGN
}
