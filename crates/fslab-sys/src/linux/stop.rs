//! Requests to stop: SIGINT, SIGTERM, SIGHUP; and a signal that must not end a process.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};

use super::ignored_signals::is_ignored;

/// The signals that request a stop. SIGHUP does not if it is ignored, as under `nohup`.
fn stop_signals() -> Vec<i32> {
    let mut signals = vec![SIGINT, SIGTERM];
    if !is_ignored(SIGHUP) {
        signals.push(SIGHUP);
    }
    signals
}

/// From now on, a write beyond the file size limit (`ulimit -f`) fails with EFBIG and does not end
/// the process.
///
/// SIGXFSZ is caught, not ignored: child programs get the default back, as in execve(2).
pub fn catch_file_size_limit() {
    let caught = Arc::new(AtomicBool::new(false));
    // If this fails, the signal keeps its default action.
    let _ = signal_hook::flag::register(SIGXFSZ, caught);
}

/// From now on, each SIGINT, SIGTERM or SIGHUP calls `call`, in a separate thread.
pub fn on_stop_signal(call: impl Fn() + Send + 'static) -> io::Result<()> {
    let mut signals = signal_hook::iterator::Signals::new(stop_signals())?;
    std::thread::spawn(move || signals.forever().for_each(|_| call()));
    Ok(())
}

/// From now on, SIGINT, SIGTERM and SIGHUP set `flag`.
pub fn raise_on_stop_signals(flag: &Arc<AtomicBool>) -> io::Result<()> {
    for signal in stop_signals() {
        signal_hook::flag::register(signal, Arc::clone(flag))?;
    }
    Ok(())
}
