//! The calendar.

use std::time::{SystemTime, UNIX_EPOCH};

/// Seconds since 1970; 0 before.
pub fn unix_seconds() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}
