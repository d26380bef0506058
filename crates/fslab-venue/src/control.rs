//! Stop requests: the first lets running trials finish, the second kills them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Counter of stop requests. Clones count together.
#[derive(Clone, Debug, Default)]
pub struct Control(Arc<AtomicUsize>);

impl Control {
    /// A counter without requests.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a stop request.
    pub fn request_stop(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// True after the first request.
    pub fn is_stopping(&self) -> bool {
        self.0.load(Ordering::Relaxed) > 0
    }

    /// True after the second request.
    pub fn kill_requested(&self) -> bool {
        self.0.load(Ordering::Relaxed) > 1
    }

    /// The counter itself, for a signal handler.
    pub fn counter(&self) -> Arc<AtomicUsize> {
        Arc::clone(&self.0)
    }
}
