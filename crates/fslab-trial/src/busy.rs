//! Patience with a device that another program has open for a moment: what probes new devices
//! (udev, automounters, monitors of disks) opens each device that a trial has just written.
//!
//! A device that stays busy is a failure of the host, whatever the tool makes of it: some checkers
//! end with the status for damage. In a guest, which has no other programs, the venue takes such a
//! failure for one of the guest.

use std::time::{Duration, Instant};

use fslab_model::{Failure, FailureKind};

/// What tools print, with LC_ALL=C, if they cannot open a device since others have it.
const BUSY_TEXTS: [&str; 2] = ["Device or resource busy", "apparently in use by the system"];
/// Tries of one step, and the time in which they are made.
const TRIES_MAX: u32 = 20;
const TIME_MAX: Duration = Duration::from_secs(10);
/// Pause before the second try; each is twice as long as the one before, up to the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// EBUSY of system calls.
const BUSY_ERROR: std::io::ErrorKind = std::io::ErrorKind::ResourceBusy;

/// True if a tool says that its device is busy.
pub(crate) fn says_busy(output: &str) -> bool {
    BUSY_TEXTS.iter().any(|text| output.contains(text))
}

/// True for a failure because a device is busy.
pub(crate) fn is_busy(failure: &Failure) -> bool {
    let by_call = failure
        .errno
        .is_some_and(|errno| std::io::Error::from_raw_os_error(errno).kind() == BUSY_ERROR);
    by_call || says_busy(&failure.message)
}

/// Does `step` again while its result is busy, and then gives the failure of the host. `what` names
/// the step, such as `the check of ext4`.
pub(crate) fn with_patience<T>(
    what: &str,
    is_busy: impl Fn(&T) -> bool,
    mut step: impl FnMut() -> T,
) -> Result<T, Failure> {
    let mut done = step();
    if !is_busy(&done) {
        // Virtual time advances with each look at the clock.
        return Ok(done);
    }
    let began = Instant::now();
    let mut pause = FIRST_PAUSE;
    for tries in 1.. {
        if tries == TRIES_MAX || began.elapsed() + pause > TIME_MAX {
            return Err(stays_busy(what, tries, began.elapsed()));
        }
        std::thread::sleep(pause);
        pause = (2 * pause).min(LONGEST_PAUSE);
        done = step();
        if !is_busy(&done) {
            return Ok(done);
        }
    }
    unreachable!("the last try has returned")
}

fn stays_busy(what: &str, tries: u32, time: Duration) -> Failure {
    let text = format!(
        "{what} found the device busy, {tries} times in {:.1} s",
        time.as_secs_f64()
    );
    Failure::new(FailureKind::Host, text).hint(
        "another program has it open (fuser -v shows which); end it, then run the same command \
         with --resume",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    // A check had been tried once: "found errors" was stored, since btrfs-check ends with 1 for a
    // busy device as for a damaged one.
    #[test]
    fn a_device_that_is_busy_for_a_moment_is_tried_again() {
        let mut tries = 0;
        let done = with_patience(
            "the check",
            |busy: &bool| *busy,
            || {
                tries += 1;
                tries < 3
            },
        );
        assert_eq!((done, tries), (Ok(false), 3));
    }

    #[test]
    fn a_device_that_stays_busy_is_a_failure_of_the_host_after_a_limited_time() {
        let began = Instant::now();
        let mut tries = 0;
        let failed = with_patience("the check of btrfs", |()| true, || tries += 1);
        let failure = failed.expect_err("busy");
        assert_eq!(failure.kind, FailureKind::Host);
        assert!(
            failure.message.starts_with("the check of btrfs found"),
            "{failure}"
        );
        assert!(tries > 3 && tries <= TRIES_MAX);
        assert!(began.elapsed() <= TIME_MAX + Duration::from_secs(5));
    }

    #[test]
    fn tools_say_in_two_ways_that_a_device_is_busy() {
        let of_btrfs = "ERROR: cannot open device '/dev/loop0': Device or resource busy";
        let of_mke2fs = "/dev/loop0 is apparently in use by the system; will not make a filesystem";
        assert!(says_busy(of_btrfs) && says_busy(of_mke2fs));
        // e2fsck -n goes on after this warning.
        assert!(!says_busy("Warning!  /dev/loop0 is in use."));
        let error = std::io::Error::from_raw_os_error(16);
        assert!(is_busy(
            &Failure::new(FailureKind::Mount, "x").because(&error)
        ));
        assert!(!is_busy(&Failure::new(FailureKind::Check, "found errors")));
    }
}
