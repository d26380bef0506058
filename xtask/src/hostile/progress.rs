//! How far a part of the campaign is, once a minute.

use std::time::{Duration, Instant};

const EVERY: Duration = Duration::from_secs(60);

/// The counts of a part that runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Progress {
    what: &'static str,
    wanted: usize,
    said: Instant,
}

impl Progress {
    pub(super) fn new(what: &'static str, wanted: usize) -> Self {
        Self {
            what,
            wanted,
            said: Instant::now(),
        }
    }

    /// Prints `done`, unless the last line is less than a minute old.
    pub(super) fn reached(&mut self, done: usize) {
        if self.said.elapsed() >= EVERY {
            self.said = Instant::now();
            eprintln!("hostile: {}: {done} of {}", self.what, self.wanted);
        }
    }
}
