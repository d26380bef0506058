//! Signals: what asks a run, or a trial, to stop, and what must not end it.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use fslab_venue::Control;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};

/// What asks to stop. A hang-up does not where the parent has it ignored: that is `nohup`.
fn requests() -> Vec<i32> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mut signals = vec![SIGINT, SIGTERM];
    if !ignores(&status, SIGHUP) {
        signals.push(SIGHUP);
    }
    signals
}

/// Whether `status`, a /proc/PID/status, says that the process ignores `signal`: SigIgn is a mask
/// of 64 bits in hexadecimal, the lowest for signal 1.
fn ignores(status: &str, signal: i32) -> bool {
    status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

/// From now on, a write beyond the limit on the size of files (`ulimit -f`) is EFBIG, an error like
/// any other, and not the end of the process.
///
/// Caught and not ignored: a program that is started gets the default back, as execve(2) says.
pub(crate) fn take_size_limit_as_error() {
    let caught = Arc::new(AtomicBool::new(false));
    // Where it cannot be caught, the signal does what it always did.
    let _ = signal_hook::flag::register(SIGXFSZ, caught);
}

/// From now on, each SIGINT, SIGTERM or SIGHUP is a request to `control`.
pub(crate) fn stop_on_signals(control: &Control) -> io::Result<()> {
    let mut signals = signal_hook::iterator::Signals::new(requests())?;
    let control = control.clone();
    std::thread::spawn(move || {
        for _ in signals.forever() {
            control.request_stop();
        }
    });
    Ok(())
}

/// From now on, SIGINT, SIGTERM and SIGHUP raise `flag`.
pub(crate) fn raise_on_signals(flag: &Arc<AtomicBool>) -> io::Result<()> {
    for signal in requests() {
        signal_hook::flag::register(signal, Arc::clone(flag))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mask_of_ignored_signals_is_read_bit_by_bit() {
        let status = "SigBlk:\tffffffffffffffff\nSigIgn:\t0000000000001001\n";
        assert!(ignores(status, SIGHUP));
        assert!(!ignores(status, SIGINT) && !ignores(status, SIGTERM));
        assert!(!ignores("Name:\tx\n", SIGHUP));
    }
}
