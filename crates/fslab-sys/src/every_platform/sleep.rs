//! Sleeping where the standard library's clock is as good as the platform's.

use std::io;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::monotonic_ns;

/// Sleeps until [`monotonic_ns`] reaches `at_ns`; returns at once if it has passed.
pub fn sleep_until_ns(at_ns: u64) -> io::Result<()> {
    while let Some(left_ns) = at_ns.checked_sub(monotonic_ns()).filter(|left| *left > 0) {
        std::thread::sleep(Duration::from_nanos(left_ns));
    }
    Ok(())
}

/// Sleeps until `beyond` after the next full second of the system time.
pub fn sleep_to_second(beyond: Duration) -> io::Result<()> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let passed = Duration::from_nanos(now.unwrap_or_default().subsec_nanos().into());
    std::thread::sleep(Duration::from_secs(1) - passed + beyond);
    Ok(())
}
