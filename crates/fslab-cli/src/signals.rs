//! Requests of the system to stop a run or a trial.

use std::io;

use fslab_venue::Control;

/// From now on, each request of the system to stop is one to `control`.
pub(crate) fn stop_on_signals(control: &Control) -> io::Result<()> {
    let control = control.clone();
    fslab_sys::on_stop_signal(move || control.request_stop())
}
