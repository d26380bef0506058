//! Identity of a process: PIDs are reused, a PID with its start time is not.

use std::io;

use rustix::process::{Pid, PidfdFlags};

use super::clock::clock_time;
use crate::{ProcessIdentity, ProcessStat, Signal};

impl ProcessIdentity {
    /// The process that has this PID now.
    pub fn of(pid: u32) -> Self {
        Self {
            pid,
            start_ticks: process_start_ticks(pid),
        }
    }

    /// True if it has not ended; zombies have.
    pub fn is_alive(&self) -> bool {
        self.start_ticks.is_some() && *self == Self::of(self.pid)
    }

    /// True if it was started at `ticks` since boot or later.
    pub fn started_since(&self, ticks: u64) -> bool {
        self.start_ticks.is_some_and(|start| start >= ticks)
    }

    /// Sends `signal`; false if the process has ended.
    pub fn signal(&self, signal: Signal) -> io::Result<bool> {
        signal_if(self.pid, signal, || self.is_alive())
    }
}

/// Clock ticks since boot, the unit of start times.
pub fn boot_ticks() -> u64 {
    let now = clock_time(libc::CLOCK_BOOTTIME);
    let per_second = rustix::param::clock_ticks_per_second().max(1);
    let (seconds, ns) = (now.tv_sec.cast_unsigned(), now.tv_nsec.cast_unsigned());
    seconds * per_second + ns / (1_000_000_000 / per_second)
}

/// Start time of the process `pid` in clock ticks since boot; `None` if there is none or a zombie.
fn process_start_ticks(pid: u32) -> Option<u64> {
    ProcessStat::of(pid)
        .filter(|stat| stat.state != 'Z')
        .map(|stat| stat.start_ticks)
}

/// Sends `signal` to the process with the PID `pid` if `is_meant` returns true; the PID cannot be
/// reused in between. False if `is_meant` was false or the process has ended.
///
/// # Errors
/// Those of pidfd_open(2) and pidfd_send_signal(2), except ESRCH.
pub fn signal_if(pid: u32, signal: Signal, is_meant: impl FnOnce() -> bool) -> io::Result<bool> {
    let number = i32::try_from(pid).map_err(io::Error::other)?;
    let number = Pid::from_raw(number).ok_or(io::ErrorKind::InvalidInput)?;
    let open = match rustix::process::pidfd_open(number, PidfdFlags::empty()) {
        Err(rustix::io::Errno::SRCH) => return Ok(false),
        opened => opened?,
    };
    if !is_meant() {
        return Ok(false);
    }
    match rustix::process::pidfd_send_signal(&open, signal.into()) {
        Err(rustix::io::Errno::SRCH) => Ok(false),
        sent => Ok(sent.map(|()| true)?),
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn this_process_is_alive_and_its_pid_with_another_start_is_not() {
        let own = ProcessIdentity::of(std::process::id());
        assert!(own.is_alive() && own.started_since(0));
        assert!(!own.started_since(boot_ticks() + 1));
        let other = ProcessIdentity {
            start_ticks: Some(1),
            ..own
        };
        assert!(!other.is_alive());
        assert_eq!(process_start_ticks(u32::MAX), None);
    }

    #[test]
    fn a_process_is_signalled_by_its_identity_and_a_reused_pid_is_not() {
        let mut child = Command::new("sleep").arg("600").spawn().expect("starts");
        let identity = ProcessIdentity::of(child.id());
        let earlier = ProcessIdentity {
            start_ticks: Some(1),
            ..identity
        };
        assert!(!earlier.signal(Signal::Kill).expect("is another"));
        assert!(identity.is_alive());
        assert!(identity.signal(Signal::Terminate).expect("is ours"));
        let status = child.wait().expect("reaped");
        let signal = std::os::unix::process::ExitStatusExt::signal(&status);
        assert_eq!(signal, Some(libc::SIGTERM));
        assert!(!identity.signal(Signal::Kill).expect("has ended"));
        assert!(signal_if(0, Signal::Kill, || true).is_err());
    }
}
