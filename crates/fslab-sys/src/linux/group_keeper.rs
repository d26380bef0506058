//! A process that kills a process group when the process that started the group ends for any
//! reason.
//!
//! ```text
//!     starter ---- pipe ----> keeper, a fork that joins the group
//!        |  spawns               |  end-of-file: the starter has ended
//!     leader --> its children    |
//!        \__________\____________/  one group, killed together
//! ```
//!
//! When a process dies, the kernel kills a child that requested it (`PR_SET_PDEATHSIG`), but not
//! that child's children: workers of a server, compilers of make. The keeper is a child of the
//! starter, not of the leader, which may wait for all of its children.

use std::io::{self, PipeWriter, Write};
use std::os::fd::{AsRawFd, RawFd};

use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};

use super::close_files::close_files;

/// Signals that ask a group to end; the keeper ignores them, as it must stay until the group is
/// killed.
const GENTLE: [libc::c_int; 4] = [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM];

/// The starter's handle of a keeper, which is killed and reaped on drop.
#[derive(Debug)]
pub(crate) struct GroupKeeper {
    /// `None` after it was reaped.
    pid: Option<Pid>,
    lifeline: PipeWriter,
}

impl GroupKeeper {
    /// Forks a keeper that is not in a group yet.
    pub(crate) fn start() -> io::Result<Self> {
        let (waiting, lifeline) = io::pipe()?;
        // SAFETY: the child only makes system calls, which neither allocate nor take a lock, and
        // never returns from here.
        let pid = unsafe { libc::fork() };
        if pid < 0 {
            return Err(io::Error::last_os_error());
        }
        let Some(pid) = Pid::from_raw(pid) else {
            keep(waiting.as_raw_fd(), lifeline.as_raw_fd());
        };
        Ok(Self {
            pid: Some(pid),
            lifeline,
        })
    }

    /// Makes it join the group of `leader`, which must not be reaped before this is dropped.
    pub(crate) fn join(&mut self, leader: Pid) -> io::Result<()> {
        self.lifeline.write_all(&leader.as_raw_pid().to_ne_bytes())
    }
}

impl Drop for GroupKeeper {
    fn drop(&mut self) {
        let Some(pid) = self.pid.take() else {
            return;
        };
        // An ended keeper stays a zombie, so its PID is still valid.
        let _ = kill_process(pid, Signal::KILL);
        while let Err(rustix::io::Errno::INTR) = waitpid(Some(pid), WaitOptions::empty()) {}
    }
}

/// The keeper's code: reads the group's ID, joins the group, and waits until its starter ends.
fn keep(waiting: RawFd, lifeline: RawFd) -> ! {
    // SAFETY: the calls take numbers and pointers to this stack. The descriptors closed are this
    // process's copies and are not used afterwards.
    unsafe {
        for signal in GENTLE {
            libc::signal(signal, libc::SIG_IGN);
        }
        // With a copy of the writing end it would never see end-of-file; with other files of the
        // starter it would keep a mount busy.
        libc::close(lifeline);
        libc::dup2(waiting, 0);
        close_files(1, u32::MAX);
        let mut number = [0_u8; size_of::<libc::pid_t>()];
        for byte in &mut number {
            if !next_byte(byte) {
                libc::_exit(0);
            }
        }
        if libc::setpgid(0, libc::pid_t::from_ne_bytes(number)) != 0 {
            // It must not kill the group that it is still in.
            libc::_exit(1);
        }
        while next_byte(&mut 0) {}
        libc::kill(0, libc::SIGKILL);
        libc::_exit(0)
    }
}

/// Reads a byte of standard input; false at its end.
fn next_byte(byte: &mut u8) -> bool {
    loop {
        // SAFETY: the pointer is valid for the one byte that is read.
        let count = unsafe { libc::read(0, std::ptr::from_mut(byte).cast(), 1) };
        if count >= 0 || io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
            return count == 1;
        }
    }
}
