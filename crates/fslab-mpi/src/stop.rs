//! Signals that end a job: mpirun sends SIGTERM to each rank, and SIGKILL a few seconds later.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// Counts the signals that this process got.
pub(crate) struct Stops {
    received: Arc<AtomicUsize>,
    taken: usize,
}

impl Stops {
    /// Catches SIGINT and SIGTERM from now on.
    pub(crate) fn catch() -> io::Result<Self> {
        let mut signals = Signals::new([SIGINT, SIGTERM])?;
        let received = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&received);
        std::thread::spawn(move || {
            for _ in signals.forever() {
                count.fetch_add(1, Ordering::Relaxed);
            }
        });
        Ok(Self { received, taken: 0 })
    }

    /// Number of signals since the last call.
    pub(crate) fn take(&mut self) -> usize {
        let received = self.received.load(Ordering::Relaxed);
        let new = received - self.taken;
        self.taken = received;
        new
    }
}
