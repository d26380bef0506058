//! The signals that this process ignores.

/// Whether this process ignores `signal`; false if /proc does not say so.
pub(super) fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    ignores(&status, signal)
}

/// Whether a process with this /proc/PID/status ignores `signal`: SigIgn is a mask of 64 bits in
/// hexadecimal, the lowest for signal 1.
fn ignores(status: &str, signal: i32) -> bool {
    status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

#[cfg(test)]
mod tests {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

    use super::*;

    #[test]
    fn the_mask_of_ignored_signals_is_read_bit_by_bit() {
        let status = "SigBlk:\tffffffffffffffff\nSigIgn:\t0000000000001001\n";
        assert!(ignores(status, SIGHUP));
        assert!(!ignores(status, SIGINT) && !ignores(status, SIGTERM));
        assert!(!ignores("Name:\tx\n", SIGHUP));
    }
}
