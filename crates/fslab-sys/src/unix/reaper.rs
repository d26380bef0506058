//! This process as the reaper of its descendants' orphans: on FreeBSD. macOS has no such call, and
//! reaps them itself.

use std::io;
use std::time::{Duration, Instant};

use rustix::process::{Pid, test_kill_process_group};

/// Limit of waiting for killed processes.
const ORPHANS_TIMEOUT: Duration = Duration::from_secs(10);
/// Poll interval.
const TICK: Duration = Duration::from_millis(1);

/// Makes this process the reaper of its descendants, or no longer.
#[cfg(target_os = "freebsd")]
pub(crate) fn reap_orphans(reaps: bool) -> io::Result<()> {
    let command = match reaps {
        true => libc::PROC_REAP_ACQUIRE,
        false => libc::PROC_REAP_RELEASE,
    };
    let own = rustix::process::getpid().as_raw_pid().into();
    // SAFETY: these commands take no data.
    super::status::check(unsafe { libc::procctl(libc::P_PID, own, command, std::ptr::null_mut()) })
}

/// Without effect.
#[cfg(not(target_os = "freebsd"))]
pub(crate) fn reap_orphans(_reaps: bool) -> io::Result<()> {
    Ok(())
}

/// Waits until no process is in `group`, whose processes were killed.
pub(crate) fn await_orphans(group: Pid) {
    let began = Instant::now();
    // With zombies alone in the group, macOS says EPERM.
    while test_kill_process_group(group).is_ok() && began.elapsed() < ORPHANS_TIMEOUT {
        std::thread::sleep(TICK);
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::CommandExt;
    use std::process::{Command, Stdio};

    use rustix::io::Errno;
    use rustix::process::{Signal, kill_process_group};

    use super::*;

    /// Stands for an orphan: until a thread reaps it, it is in the group.
    #[test]
    fn the_last_process_of_a_group_is_waited_for() {
        reap_orphans(true).expect("is possible");
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "read line"]).stdin(Stdio::piped());
        let mut last = command.process_group(0).spawn().expect("sh starts");
        let group = Pid::from_child(&last);
        kill_process_group(group, Signal::KILL).expect("killed");
        let reaps = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(50));
            last.wait()
        });
        await_orphans(group);
        assert_eq!(test_kill_process_group(group), Err(Errno::SRCH));
        assert!(reaps.join().is_ok_and(|it| it.is_ok()));
        reap_orphans(false).expect("is possible");
    }
}
