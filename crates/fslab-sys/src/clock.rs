//! The monotonic clock, read through the vDSO: no kernel entry where the clock source allows it.

use std::io;

/// Nanoseconds of CLOCK_MONOTONIC since an arbitrary point.
///
/// # Panics
/// Where the kernel has no monotonic clock, which no Linux does.
#[inline]
#[must_use]
pub fn monotonic_ns() -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is a valid timespec that outlives the call.
    let status = unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    assert!(status == 0, "CLOCK_MONOTONIC cannot be read");
    time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_nsec.cast_unsigned()
}

/// Sleeps until CLOCK_MONOTONIC is at `at_ns`; returns at once where that has passed.
///
/// # Errors
/// EINTR where a signal arrived first.
pub fn sleep_until_ns(at_ns: u64) -> io::Result<()> {
    let time = libc::timespec {
        tv_sec: (at_ns / 1_000_000_000).cast_signed(),
        tv_nsec: (at_ns % 1_000_000_000).cast_signed(),
    };
    // SAFETY: `time` is a valid timespec; with TIMER_ABSTIME nothing is written to the null
    // pointer.
    let errno = unsafe {
        libc::clock_nanosleep(
            libc::CLOCK_MONOTONIC,
            libc::TIMER_ABSTIME,
            &raw const time,
            std::ptr::null_mut(),
        )
    };
    if errno == 0 {
        Ok(())
    } else {
        Err(io::Error::from_raw_os_error(errno))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_moves_on_and_sleeping_reaches_the_time_asked_for() {
        let start = monotonic_ns();
        sleep_until_ns(start + 2_000_000).expect("no signal is due");
        assert!(monotonic_ns() >= start + 2_000_000);
    }
}
