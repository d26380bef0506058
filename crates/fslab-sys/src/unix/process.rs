//! This process and others.

use std::io;
use std::process::Command;

use rustix::process::Pid;

use crate::{ProcessIdentity, Signal};

/// The search path of a trial's process.
pub const PLAIN_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// The system with its version.
pub fn kernel_release() -> String {
    let name = rustix::system::uname();
    let (system, release) = (name.sysname(), name.release());
    format!("{} {}", system.to_string_lossy(), release.to_string_lossy())
}

/// The machine's name.
pub fn host_name() -> String {
    rustix::system::uname()
        .nodename()
        .to_string_lossy()
        .into_owned()
}

/// True for root.
pub fn is_superuser() -> bool {
    rustix::process::geteuid().is_root()
}

pub fn effective_user() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Without effect: only Linux signals a child when its parent dies. What a killed run leaves is
/// removed by the next one.
pub fn terminate_with_parent(_command: &mut Command) {}

/// Without effect, as [`terminate_with_parent`].
pub fn kill_with_parent(_command: &mut Command) {}

/// Lets the process of `command` inherit `file` and its lock.
pub fn let_child_inherit(command: &mut Command, file: &std::fs::File) {
    use std::os::fd::AsRawFd;
    use std::os::unix::process::CommandExt;
    let descriptor = file.as_raw_fd();
    let prepare = move || {
        // SAFETY: the call takes only numbers. Between fork and exec the descriptor is the child's
        // copy.
        super::status::check(unsafe { libc::fcntl(descriptor, libc::F_SETFD, 0) })
    };
    // SAFETY: between fork and exec the closure makes one system call, and neither allocates nor
    // takes a lock.
    unsafe {
        command.pre_exec(prepare);
    }
}

/// Lets all child processes of this process inherit `file` and its lock.
pub fn let_children_inherit(file: &std::fs::File) -> io::Result<()> {
    let flags = rustix::io::fcntl_getfd(file)?;
    Ok(rustix::io::fcntl_setfd(
        file,
        flags - rustix::io::FdFlags::CLOEXEC,
    )?)
}

/// The numbers of the processors.
pub fn processors() -> io::Result<Vec<usize>> {
    Ok((0..std::thread::available_parallelism()?.get()).collect())
}

/// The signal's name, such as `SIGKILL`.
pub fn signal_name(number: i32) -> String {
    let name = match number {
        libc::SIGHUP => "SIGHUP",
        libc::SIGINT => "SIGINT",
        libc::SIGABRT => "SIGABRT",
        libc::SIGBUS => "SIGBUS",
        libc::SIGKILL => "SIGKILL",
        libc::SIGSEGV => "SIGSEGV",
        libc::SIGPIPE => "SIGPIPE",
        libc::SIGTERM => "SIGTERM",
        _ => return format!("signal {number}"),
    };
    name.to_owned()
}

/// 0: start times of processes are not known.
pub fn boot_ticks() -> u64 {
    0
}

impl ProcessIdentity {
    /// The process that has this PID now; its start time is not known.
    pub fn of(pid: u32) -> Self {
        let number = i32::try_from(pid).ok().and_then(Pid::from_raw);
        let is_there = number.is_some_and(|pid| {
            let asked = rustix::process::test_kill_process(pid);
            !matches!(asked, Err(rustix::io::Errno::SRCH))
        });
        Self {
            pid,
            start_ticks: is_there.then_some(0),
        }
    }

    /// True if a process has its PID: one that was started later counts as well.
    pub fn is_alive(&self) -> bool {
        self.start_ticks.is_some() && *self == Self::of(self.pid)
    }

    /// False: start times are not known.
    pub fn started_since(&self, _ticks: u64) -> bool {
        false
    }

    /// Refused: see [`signal_if`].
    pub fn signal(&self, signal: Signal) -> io::Result<bool> {
        signal_if(self.pid, signal, || self.is_alive())
    }
}

/// Refused: a PID may be reused between question and signal.
pub fn signal_if(_pid: u32, _signal: Signal, _is_meant: impl FnOnce() -> bool) -> io::Result<bool> {
    Err(crate::lacking::lacks("pidfd_send_signal(2)"))
}
