//! This process's identity and limits, and the start of child processes.

use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::process::{Pid, Resource, Rlimit, Signal, WaitOptions, getpid, getppid};
use rustix::system::RebootCommand;

use super::status::check;

/// PATH of programs started with a clean environment.
pub const PLAIN_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// The running kernel's release, such as `6.12.95-fslab`.
pub fn kernel_release() -> String {
    let names = rustix::system::uname();
    names.release().to_string_lossy().into_owned()
}

/// The name of this machine in its network.
pub fn host_name() -> String {
    let names = rustix::system::uname();
    names.nodename().to_string_lossy().into_owned()
}

/// True for the superuser.
pub fn is_superuser() -> bool {
    rustix::process::geteuid().is_root()
}

/// The effective user ID.
pub fn effective_user() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Argument of personality(2) that only queries.
const QUERY_PERSONALITY: libc::c_ulong = 0xffff_ffff;

/// Makes the kernel send SIGTERM to the process of `command` when this thread ends for any reason.
pub fn terminate_with_parent(command: &mut Command) {
    let parent = getpid();
    // SAFETY: between fork and exec the closure makes two system calls, and neither allocates nor
    // takes a lock.
    unsafe {
        command.pre_exec(move || set_death_signal(Signal::TERM, parent));
    }
}

/// Makes the kernel kill the process of `command` when this thread ends for any reason, and
/// disables core files: that of a guest kernel would be as large as the guest's memory. Does
/// nothing in a process that has locked its memory: its children end with their guest and are
/// started without a fork.
pub fn kill_with_parent(command: &mut Command) {
    if crate::is_memory_locked() {
        return;
    }
    let parent = getpid();
    let prepare = move || {
        set_death_signal(Signal::KILL, parent)?;
        let none = Rlimit {
            current: Some(0),
            maximum: Some(0),
        };
        rustix::process::setrlimit(Resource::Core, none)?;
        Ok(())
    };
    // SAFETY: between fork and exec the closure only makes system calls, which neither allocate nor
    // take a lock.
    unsafe {
        command.pre_exec(prepare);
    }
}

/// Requests `signal` for this process when the thread that started it ends. A `parent` that has
/// ended already sends no signal: the result is ESRCH, and the caller must end.
pub(crate) fn set_death_signal(signal: Signal, parent: Pid) -> io::Result<()> {
    rustix::process::set_parent_process_death_signal(Some(signal))?;
    match getppid() == Some(parent) {
        true => Ok(()),
        false => Err(rustix::io::Errno::SRCH.into()),
    }
}

/// Disables address space randomisation for the process of `command`. The memory of a User-Mode
/// Linux kernel is limited by the gaps between its mappings.
pub fn without_address_randomisation(command: &mut Command) {
    let prepare = || {
        // SAFETY: the call takes a number and returns one.
        let now = unsafe { libc::personality(QUERY_PERSONALITY) };
        if now < 0 {
            return Err(io::Error::last_os_error());
        }
        let wanted = libc::c_ulong::from(now.cast_unsigned())
            | libc::c_ulong::from(libc::ADDR_NO_RANDOMIZE.cast_unsigned());
        // SAFETY: the same.
        let before = unsafe { libc::personality(wanted) };
        if before < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(())
    };
    // SAFETY: between fork and exec the closure makes two system calls, and neither allocates nor
    // takes a lock.
    unsafe {
        command.pre_exec(prepare);
    }
}

/// The processors that this process may run on.
pub fn processors() -> io::Result<Vec<usize>> {
    let set = rustix::thread::sched_getaffinity(None)?;
    Ok((0..rustix::thread::CpuSet::MAX_CPU)
        .filter(|number| set.is_set(*number))
        .collect())
}

/// Pins the process of `command` to one processor. Processes that wait for each other in turn, as a
/// guest kernel and its programs do, wake up several times as fast on the same one.
pub fn run_on_processor(command: &mut Command, number: usize) {
    let prepare = move || {
        let mut set = rustix::thread::CpuSet::new();
        set.set(number);
        Ok(rustix::thread::sched_setaffinity(None, &set)?)
    };
    // SAFETY: between fork and exec the closure makes one system call, and neither allocates nor
    // takes a lock.
    unsafe {
        command.pre_exec(prepare);
    }
}

/// Waits for the next child that ends; returns its PID and its wait(2) status.
///
/// # Errors
/// That of wait(2): ECHILD if there is none.
pub fn wait_for_any_child() -> io::Result<(u32, i32)> {
    loop {
        match rustix::process::wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) => {
                return Ok((pid.as_raw_pid().cast_unsigned(), status.as_raw()));
            }
            Ok(None) | Err(rustix::io::Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
}

/// Powers the machine off at once, without writing back: for a guest's init, whose disks are
/// discarded or unmounted.
///
/// # Errors
/// That of reboot(2): EPERM without CAP_SYS_BOOT.
pub fn power_off() -> io::Result<()> {
    Ok(rustix::system::reboot(RebootCommand::PowerOff)?)
}

/// The signal's name, such as `SIGKILL`.
pub fn signal_name(number: i32) -> String {
    let name = match number {
        libc::SIGHUP => "SIGHUP",
        libc::SIGINT => "SIGINT",
        libc::SIGQUIT => "SIGQUIT",
        libc::SIGILL => "SIGILL",
        libc::SIGTRAP => "SIGTRAP",
        libc::SIGABRT => "SIGABRT",
        libc::SIGBUS => "SIGBUS",
        libc::SIGFPE => "SIGFPE",
        libc::SIGKILL => "SIGKILL",
        libc::SIGSEGV => "SIGSEGV",
        libc::SIGPIPE => "SIGPIPE",
        libc::SIGTERM => "SIGTERM",
        libc::SIGXCPU => "SIGXCPU",
        libc::SIGXFSZ => "SIGXFSZ",
        _ => return format!("signal {number}"),
    };
    name.to_owned()
}

/// Lets all child processes of this process inherit `file` and its lock.
pub fn let_children_inherit(file: &std::fs::File) -> io::Result<()> {
    let flags = rustix::io::fcntl_getfd(file)?;
    Ok(rustix::io::fcntl_setfd(
        file,
        flags - rustix::io::FdFlags::CLOEXEC,
    )?)
}

/// Lets only the process of `command` inherit `file` and its lock. The file must be open at the
/// start; otherwise the start fails.
pub fn let_child_inherit(command: &mut Command, file: &std::fs::File) {
    inherit(command, file.as_raw_fd());
}

/// The same of a descriptor, or of a file that the command owns from now on.
pub(super) fn inherit(command: &mut Command, file: impl AsRawFd + Send + Sync + 'static) {
    let prepare = move || {
        // SAFETY: the call takes only numbers. Between fork and exec the descriptor is the child's
        // copy.
        check(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETFD, 0) })
    };
    // SAFETY: between fork and exec the closure makes one system call, and neither allocates nor
    // takes a lock.
    unsafe {
        command.pre_exec(prepare);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::WorkerProcess;

    const NEVER: fn() -> bool = || false;

    /// If the parent had died before the child requested its death signal, the child ran on.
    #[test]
    fn a_child_whose_parent_changed_before_it_started_does_not_run() {
        for prepare in [terminate_with_parent, kill_with_parent] {
            let mut command = Command::new("true");
            prepare(&mut command);
            // The worker's child has the worker as its parent, as an orphan has init.
            let worker = WorkerProcess::fork(|_| match command.status() {
                Ok(_) => b"ran".to_vec(),
                Err(error) => error.raw_os_error().unwrap_or(0).to_ne_bytes().to_vec(),
            });
            let report = worker.expect("forks").collect(NEVER).expect("reports");
            assert_eq!(report, libc::ESRCH.to_ne_bytes());
            let status = command.status().expect("starts with its own parent");
            assert!(status.success());
        }
    }
}
