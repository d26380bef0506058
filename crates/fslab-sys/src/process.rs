//! Processes: who we are, whom we die with, whom we end.

use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::process::{
    Pid, PidfdFlags, Resource, Rlimit, Signal, WaitId, WaitIdOptions, WaitOptions,
};
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

/// Asks the kernel for SIGTERM when the parent dies, however it dies.
///
/// # Errors
/// That of prctl(2).
pub fn terminate_with_parent() -> io::Result<()> {
    Ok(rustix::process::set_parent_process_death_signal(Some(
        Signal::TERM,
    ))?)
}

/// Asks personality(2) for the one that is, and changes nothing.
const QUERY_PERSONALITY: libc::c_ulong = 0xffff_ffff;

/// Lets the kernel kill what `command` starts when this thread ends, however it ends, and keeps it
/// from writing cores: a core of a guest kernel is as large as the guest's memory. Does nothing for
/// a process that holds its memory: what it starts ends with its guest, and is started without a
/// fork.
pub fn end_with_parent(command: &mut Command) {
    if crate::is_memory_held() {
        return;
    }
    let prepare = || {
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
        let none = Rlimit {
            current: Some(0),
            maximum: Some(0),
        };
        rustix::process::setrlimit(Resource::Core, none)?;
        Ok(())
    };
    // SAFETY: between fork and exec the closure makes two system calls, and neither allocates nor
    // takes a lock.
    unsafe {
        command.pre_exec(prepare);
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

/// What is sent to a process group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupSignal {
    /// Please clean up and end.
    Terminate,
    /// End.
    Kill,
}

/// Sends a signal to the process group of `leader`. A group that is gone is no error.
///
/// # Errors
/// That of kill(2), `ESRCH` apart.
pub fn signal_group(leader: u32, signal: GroupSignal) -> io::Result<()> {
    let number = i32::try_from(leader).map_err(io::Error::other)?;
    let Some(pid) = Pid::from_raw(number) else {
        return Err(io::Error::other("process 0 leads no group"));
    };
    let signal = match signal {
        GroupSignal::Terminate => Signal::TERM,
        GroupSignal::Kill => Signal::KILL,
    };
    match rustix::process::kill_process_group(pid, signal) {
        Err(rustix::io::Errno::SRCH) => Ok(()),
        other => Ok(other?),
    }
}

/// Sends SIGTERM to one process, which may be nobody's child and in a group of others. One that is
/// gone is no error.
///
/// # Errors
/// That of kill(2), `ESRCH` apart.
pub fn terminate_process(process: u32) -> io::Result<()> {
    let number = i32::try_from(process).map_err(io::Error::other)?;
    let Some(pid) = Pid::from_raw(number) else {
        return Err(io::Error::other("process 0 is no process"));
    };
    match rustix::process::kill_process(pid, Signal::TERM) {
        Err(rustix::io::Errno::SRCH) => Ok(()),
        other => Ok(other?),
    }
}

/// Whether the child has ended. It is not reaped: until it is, its number is its own and that of
/// its group.
///
/// # Errors
/// That of waitid(2): ECHILD where it is no child of this process.
pub fn has_ended(child: u32) -> io::Result<bool> {
    let number = i32::try_from(child).map_err(io::Error::other)?;
    let pid = Pid::from_raw(number).ok_or(io::ErrorKind::InvalidInput)?;
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    loop {
        match rustix::process::waitid(WaitId::Pid(pid), options) {
            Err(rustix::io::Errno::INTR) => {}
            status => return Ok(status?.is_some()),
        }
    }
}

/// Kills the process that has the number `process` now, if `is_meant` says so of it: the number is
/// not given to another in between. False where it was not meant, or is gone.
///
/// # Errors
/// Those of pidfd_open(2) and pidfd_send_signal(2), ESRCH apart.
pub fn kill_if(process: u32, is_meant: impl FnOnce() -> bool) -> io::Result<bool> {
    let number = i32::try_from(process).map_err(io::Error::other)?;
    let pid = Pid::from_raw(number).ok_or(io::ErrorKind::InvalidInput)?;
    let open = match rustix::process::pidfd_open(pid, PidfdFlags::empty()) {
        Err(rustix::io::Errno::SRCH) => return Ok(false),
        opened => opened?,
    };
    if !is_meant() {
        return Ok(false);
    }
    match rustix::process::pidfd_send_signal(&open, Signal::KILL) {
        Err(rustix::io::Errno::SRCH) => Ok(false),
        sent => Ok(sent.map(|()| true)?),
    }
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

/// When process `pid` began, in clock ticks since boot; `None` where there is none. Together they
/// name a process for good, since a number is given to many in turn.
#[must_use]
pub fn process_start_ticks(pid: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in parentheses may hold anything, blanks and parentheses too: count behind it.
    let (_, behind) = stat.rsplit_once(')')?;
    let mut fields = behind.split_whitespace();
    let state = fields.next()?;
    // A zombie has ended; its parent only has not looked.
    (state != "Z").then_some(())?;
    fields.nth(18)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_has_a_start_and_a_number_out_of_range_has_none() {
        assert!(process_start_ticks(std::process::id()).is_some());
        assert_eq!(process_start_ticks(u32::MAX), None);
    }

    #[test]
    fn a_process_is_ended_and_one_that_is_gone_takes_a_signal_without_an_error() {
        let mut child = Command::new("sleep")
            .arg("600")
            .spawn()
            .expect("sleep starts");
        terminate_process(child.id()).expect("it is ours");
        let status = child.wait().expect("sleep ends");
        let signal = std::os::unix::process::ExitStatusExt::signal(&status);
        assert_eq!(signal, Some(libc::SIGTERM));
        terminate_process(child.id()).expect("nobody is there to complain");
        assert!(terminate_process(0).is_err());
    }

    #[test]
    fn a_child_that_has_ended_keeps_its_number_until_it_is_reaped() {
        let mut child = Command::new("sleep").arg("600").spawn().expect("starts");
        let pid = child.id();
        assert!(!has_ended(pid).expect("it is ours"));
        assert!(!kill_if(pid, || false).expect("it is there"));
        assert!(!has_ended(pid).expect("it is ours"));
        assert!(kill_if(pid, || true).expect("it is there"));
        while !has_ended(pid).expect("it is ours") {
            std::thread::yield_now();
        }
        assert!(has_ended(pid).expect("it is ours still"));
        child.wait().expect("reaped");
        assert!(has_ended(pid).is_err());
        assert!(!kill_if(pid, || true).expect("nobody has the number"));
    }

    #[test]
    fn a_group_that_is_gone_takes_a_signal_without_an_error() {
        let mut child = Command::new("true");
        let mut child = CommandExt::process_group(&mut child, 0)
            .spawn()
            .expect("true starts");
        child.wait().expect("true ends");
        signal_group(child.id(), GroupSignal::Kill).expect("nobody is there to complain");
    }
}
