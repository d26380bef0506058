//! A child process that leads a process group: start, signals, reaping.
//!
//! Invariant: a group is signalled only before its leader is reaped, since the leader's PID, the
//! group's ID, may be reused afterwards. Dropping a group kills it and reaps its leader.

use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus};

use rustix::process::{Pid, WaitId, WaitIdOptions, kill_process_group};

use crate::{ProcessIdentity, ResourceUse, Signal};

/// A process group and its leader, a child of this process.
#[derive(Debug)]
pub struct ProcessGroup {
    /// The leader's standard input, if it is a pipe.
    pub stdin: Option<ChildStdin>,
    /// The leader's standard output, if it is a pipe.
    pub stdout: Option<ChildStdout>,
    /// The leader's standard error, if it is a pipe.
    pub stderr: Option<ChildStderr>,
    leader: Pid,
    pub(crate) is_reaped: bool,
}

impl ProcessGroup {
    /// Starts `command` in a new group, and closes this process's copies of the pipes passed to it.
    ///
    /// # Errors
    /// That of fork(2) or execve(2): `NotFound` if there is no such program.
    pub fn spawn(mut command: Command) -> io::Result<Self> {
        let mut child = command.process_group(0).spawn()?;
        Ok(Self {
            stdin: child.stdin.take(),
            stdout: child.stdout.take(),
            stderr: child.stderr.take(),
            leader: Pid::from_child(&child),
            is_reaped: false,
        })
    }

    /// PID of the leader, equal to the group's ID.
    pub fn id(&self) -> u32 {
        self.leader.as_raw_pid().cast_unsigned()
    }

    /// The same as a type of rustix.
    pub(crate) fn leader(&self) -> Pid {
        self.leader
    }

    /// The leader's identity, valid after its PID is reused.
    pub fn identity(&self) -> ProcessIdentity {
        ProcessIdentity::of(self.id())
    }

    /// True if the leader has ended. It is not reaped: its PID is not reused.
    pub fn has_ended(&self) -> io::Result<bool> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        retry(|| rustix::process::waitid(WaitId::Pid(self.leader), options))
            .map(|status| status.is_some())
    }

    /// Waits until the leader has ended.
    pub fn wait(&self) -> io::Result<()> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        retry(|| rustix::process::waitid(WaitId::Pid(self.leader), options)).map(drop)
    }

    /// Sends `signal` to all processes of the group; does nothing after reaping.
    pub fn signal(&self, signal: Signal) -> io::Result<()> {
        if self.is_reaped {
            return Ok(());
        }
        match kill_process_group(self.leader, signal.into()) {
            Err(rustix::io::Errno::SRCH) => Ok(()),
            sent => Ok(sent?),
        }
    }

    /// Kills the remaining processes and reaps the leader; returns its status and the resources
    /// used by it and its reaped children.
    ///
    /// # Errors
    /// That of kill(2) or wait4(2); `NotFound` if it was reaped before.
    pub fn reap(&mut self) -> io::Result<(ExitStatus, ResourceUse)> {
        if self.is_reaped {
            return Err(io::ErrorKind::NotFound.into());
        }
        self.signal(Signal::Kill)?;
        let reaped = wait_with_use(self.leader.as_raw_pid());
        self.is_reaped = true;
        reaped
    }
}

/// wait4(2) for a process, or for any process of the group `-target`.
pub(crate) fn wait_with_use(target: libc::pid_t) -> io::Result<(ExitStatus, ResourceUse)> {
    loop {
        let mut status = 0;
        // SAFETY: rusage consists of integers, for which zero is valid.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: both are valid and outlive the call.
        let found = unsafe { libc::wait4(target, &raw mut status, 0, &raw mut usage) };
        if found >= 0 {
            return Ok((ExitStatus::from_raw(status), ResourceUse::from(usage)));
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

/// Repeats a call that a signal interrupted.
fn retry<T>(mut call: impl FnMut() -> rustix::io::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(rustix::io::Errno::INTR) => {}
            other => return Ok(other?),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::process::Stdio;
    use std::time::Duration;

    use super::*;

    fn shell(script: &str) -> ProcessGroup {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]).stdout(Stdio::piped());
        ProcessGroup::spawn(command).expect("sh starts")
    }

    #[test]
    fn a_leader_that_has_ended_keeps_its_pid_until_it_is_reaped() {
        let mut group = shell("exit 3");
        group.wait().expect("ends");
        assert!(group.has_ended().expect("is ours"));
        assert!(group.has_ended().expect("is ours still"));
        let (status, _) = group.reap().expect("reaped");
        assert_eq!(status.code(), Some(3));
        assert!(group.reap().is_err() && group.has_ended().is_err());
    }

    /// A group had been killed by the ID of a reaped leader, which may have been reused.
    #[test]
    fn a_group_that_was_reaped_is_not_signalled() {
        let mut group = shell("true");
        group.reap().expect("reaped");
        // As if the ID was reused: the other group is that of a child that must live.
        let mut other = shell("exec sleep 600");
        group.leader = other.leader;
        group.signal(Signal::Kill).expect("sends nothing");
        drop(group);
        assert!(!other.has_ended().expect("is ours"));
        let status = other.end(Duration::from_secs(60)).expect("reaped");
        assert_eq!(status.signal(), Some(libc::SIGTERM));
    }

    #[test]
    fn a_leader_that_ignores_sigterm_is_killed_and_a_dropped_group_is_gone() {
        let mut group = shell("trap '' TERM; echo; while :; do sleep 1; done");
        let mut output = group.stdout.take().expect("a pipe");
        output.read_exact(&mut [0]).expect("the trap is set");
        let status = group.end(Duration::from_millis(20)).expect("reaped");
        assert_eq!(status.signal(), Some(libc::SIGKILL));
        let group = shell("sleep 600 & echo $!; wait");
        let (leader, mut group) = (group.identity(), group);
        let mut text = String::new();
        let mut output = io::BufReader::new(group.stdout.take().expect("a pipe"));
        io::BufRead::read_line(&mut output, &mut text).expect("a line");
        let child = ProcessIdentity::of(text.trim().parse().expect("a PID"));
        assert!(leader.is_alive() && child.is_alive());
        drop(group);
        assert!(!leader.is_alive());
        // Its new parent reaps it; a zombie does not count as alive.
        while child.is_alive() {
            std::thread::yield_now();
        }
    }
}
