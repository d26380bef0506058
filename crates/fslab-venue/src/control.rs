//! The one way to stop a run from outside: once is please, twice is now.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Counts how often somebody asked to stop. Clones count together.
#[derive(Clone, Debug, Default)]
pub struct Control(Arc<AtomicUsize>);

impl Control {
    /// Nobody has asked yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks to stop; the second time, to stop at once.
    pub fn request_stop(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// Whether somebody asked.
    #[must_use]
    pub fn is_stopping(&self) -> bool {
        self.0.load(Ordering::Relaxed) > 0
    }

    /// Whether somebody asked twice.
    #[must_use]
    pub fn is_impatient(&self) -> bool {
        self.0.load(Ordering::Relaxed) > 1
    }

    /// The counter itself, for a signal handler.
    #[must_use]
    pub fn counter(&self) -> Arc<AtomicUsize> {
        Arc::clone(&self.0)
    }
}
