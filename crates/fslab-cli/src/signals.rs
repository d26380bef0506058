//! Signals: what asks a run, or a trial, to stop.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use fslab_venue::Control;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

/// From now on, each SIGINT, SIGTERM or SIGHUP is a request to `control`.
pub(crate) fn stop_on_signals(control: &Control) -> io::Result<()> {
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGHUP])?;
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
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register(signal, Arc::clone(flag))?;
    }
    Ok(())
}
