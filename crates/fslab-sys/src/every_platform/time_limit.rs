//! The limits of work that may hang in a call.

use std::fs::File;
use std::time::Duration;

/// The limits of some work.
#[derive(Clone, Copy)]
pub struct TimeLimit<'a> {
    /// Longest time without progress.
    pub idle: Duration,
    /// A file that stays open in the work's process; all others are closed.
    pub keeps: Option<&'a File>,
    /// False once the work is cancelled.
    pub go_on: &'a dyn Fn() -> bool,
    /// A number that changes while there is progress besides the work's use of a processor, such as
    /// a device's counters.
    pub activity: &'a dyn Fn() -> u64,
}

impl TimeLimit<'_> {
    /// Limits the time without progress to `idle`.
    pub fn of(idle: Duration) -> Self {
        Self {
            idle,
            keeps: None,
            go_on: &|| true,
            activity: &|| 0,
        }
    }
}
