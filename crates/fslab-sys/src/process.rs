//! This process's identity and limits, and how child processes are started.

use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::process::{Pid, Resource, Rlimit, Signal, WaitOptions, getpid, getppid};
use rustix::system::RebootCommand;

/// The PATH of programs that are started with a clean environment.
pub const PLAIN_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// The running kernel's release, such as `6.12.95-fslab`.
#[must_use]
pub fn kernel_release() -> String {
    let names = rustix::system::uname();
    names.release().to_string_lossy().into_owned()
}

/// Whether this process runs with the superuser's privileges.
#[must_use]
pub fn is_superuser() -> bool {
    rustix::process::geteuid().is_root()
}

/// The number of the user with whose rights this process runs.
#[must_use]
pub fn effective_user() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Asks personality(2) for the one that is, and changes nothing.
const QUERY_PERSONALITY: libc::c_ulong = 0xffff_ffff;

/// Lets the kernel send SIGTERM to what `command` starts when this thread ends, however it ends.
pub fn terminate_with_parent(command: &mut Command) {
    let parent = getpid();
    // SAFETY: between fork and exec the closure makes two system calls, and neither allocates nor
    // takes a lock.
    unsafe {
        command.pre_exec(move || set_death_signal(Signal::TERM, parent));
    }
}

/// Lets the kernel kill what `command` starts when this thread ends, however it ends, and keeps it
/// from writing cores: a core of a guest kernel is as large as the guest's memory. Does nothing for
/// a process that holds its memory: what it starts ends with its guest, and is started without a
/// fork.
pub fn end_with_parent(command: &mut Command) {
    if crate::is_memory_held() {
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
    // SAFETY: between fork and exec the closure makes system calls alone, which neither allocate
    // nor take a lock.
    unsafe {
        command.pre_exec(prepare);
    }
}

/// Asks the kernel for `signal` when the thread that started this process ends. A `parent` that has
/// ended before that sends no signal: then this is ESRCH, and the caller must end.
///
/// # Errors
/// That of prctl(2), or ESRCH.
pub(crate) fn set_death_signal(signal: Signal, parent: Pid) -> io::Result<()> {
    rustix::process::set_parent_process_death_signal(Some(signal))?;
    match getppid() == Some(parent) {
        true => Ok(()),
        false => Err(rustix::io::Errno::SRCH.into()),
    }
}

/// Lets what `command` starts lie at the same addresses each time. A guest kernel that is a process
/// has as much memory as lies between its parts.
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
        let status = unsafe { libc::personality(wanted) };
        if status < 0 {
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

/// The processors that this process may run on, by their numbers.
///
/// # Errors
/// That of sched_getaffinity(2).
pub fn processors() -> io::Result<Vec<usize>> {
    let set = rustix::thread::sched_getaffinity(None)?;
    Ok((0..rustix::thread::CpuSet::MAX_CPU)
        .filter(|number| set.is_set(*number))
        .collect())
}

/// Keeps what `command` starts on one processor. Processes that wait for each other in turn, as a
/// guest kernel and its programs do, wake each other several times as fast on the same one.
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

/// Waits for whichever child ends next: its number, and its status as wait(2) gives it.
///
/// # Errors
/// That of wait(2): ECHILD where there is none.
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

/// Switches the machine off at once. Nothing is written back: for the first process of a guest,
/// whose disks are thrown away or unmounted.
///
/// # Errors
/// That of reboot(2): EPERM without CAP_SYS_BOOT.
pub fn power_off() -> io::Result<()> {
    Ok(rustix::system::reboot(RebootCommand::PowerOff)?)
}

/// The signal's conventional name, such as `SIGKILL`.
#[must_use]
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

/// Lets programs that this process starts inherit `file`, and with it the file's lock.
///
/// # Errors
/// That of fcntl(2).
pub fn let_children_inherit(file: &std::fs::File) -> io::Result<()> {
    let flags = rustix::io::fcntl_getfd(file)?;
    Ok(rustix::io::fcntl_setfd(
        file,
        flags - rustix::io::FdFlags::CLOEXEC,
    )?)
}

/// Lets what `command` starts inherit `file`, and with it the file's lock, and nothing else that
/// this process starts. The file must be open then; where it is not, the start fails.
pub fn let_child_inherit(command: &mut Command, file: &std::fs::File) {
    let descriptor = file.as_raw_fd();
    let prepare = move || {
        // SAFETY: the call takes numbers alone. Between fork and exec the descriptor is the child's
        // own copy.
        let status = unsafe { libc::fcntl(descriptor, libc::F_SETFD, 0) };
        if status < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(())
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

    /// A parent that had died before the child asked for its death signal left the child running.
    #[test]
    fn a_child_of_another_parent_than_the_one_that_prepared_it_does_not_start() {
        for prepare in [terminate_with_parent, end_with_parent] {
            let mut command = Command::new("true");
            prepare(&mut command);
            // The worker's child has the worker as its parent, as an orphan has another one.
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
