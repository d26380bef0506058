//! Work that may hang in the kernel, done by a process that can be left behind.
//!
//! A thread that waits for a dead device keeps its whole process from ending, however it is killed.
//! So the work is done by a fork, which reports in bytes, and which is given up where nothing moves
//! any more. It holds none of the parent's files but those that the parent names.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};

/// How often the parent looks whether something moves.
const TICK: Duration = Duration::from_millis(100);
/// From the kill until a process counts as stuck in the kernel.
const KILL_PATIENCE: Duration = Duration::from_secs(1);
/// Before the report; 0 bytes before it are signs of life.
const REPORT: u8 = 1;
const ALIVE: u8 = 0;

/// How work is bounded.
#[derive(Clone, Copy)]
pub struct TimeLimit<'a> {
    /// How long nothing may move.
    pub idle: Duration,
    /// A file that the work holds open as long as it lasts; every other one is closed for it.
    pub keeps: Option<&'a File>,
    /// Whether the work is still wanted.
    pub go_on: &'a dyn Fn() -> bool,
    /// A number that changes as long as something moves: a device's counters, for one.
    pub witness: &'a dyn Fn() -> u64,
}

impl TimeLimit<'_> {
    /// Nothing may stand still for as long as `idle`.
    #[must_use]
    pub fn of(idle: Duration) -> Self {
        Self {
            idle,
            keeps: None,
            go_on: &|| true,
            witness: &|| 0,
        }
    }

    /// Does `work` in a fork of this process and gives what it returns. The work says now and then
    /// that it is alive, by calling what it is given; it must neither print nor wait for a thread.
    ///
    /// # Errors
    /// `TimedOut` where nothing moved for too long, and the work was left to the kernel;
    /// `Interrupted` where it was not wanted any more; those of pipe(2) and fork(2), and a sentence
    /// where the process died.
    pub fn run(&self, work: impl FnOnce(&dyn Fn()) -> Vec<u8>) -> io::Result<Vec<u8>> {
        let (reader, writer) = pipe_with(PipeFlags::CLOEXEC)?;
        let parent = rustix::process::getpid();
        // SAFETY: the C library keeps its allocator usable in the child; nothing else that another
        // thread could have locked is used there, and the child never returns from here.
        let pid = unsafe { libc::fork() };
        if pid < 0 {
            return Err(io::Error::last_os_error());
        }
        let Some(pid) = Pid::from_raw(pid) else {
            become_worker(writer, parent, self.keeps.map(AsRawFd::as_raw_fd), work);
        };
        drop(writer);
        let listened = self.listen(&mut reader.into());
        if listened.is_err() {
            // Not reaped yet, so its number is still its own.
            let _ = kill_process(pid, Signal::KILL);
        }
        let is_gone = wait_a_while(pid, listened.is_err())?;
        match listened? {
            Some(bytes) => Ok(bytes),
            None if is_gone => Err(io::Error::other("the process that did it died")),
            None => Err(io::ErrorKind::TimedOut.into()),
        }
    }

    /// The report; `None` where the process ended without one.
    fn listen(&self, reader: &mut File) -> io::Result<Option<Vec<u8>>> {
        let tick = Timespec::try_from(TICK).map_err(io::Error::other)?;
        let mut moved = (Instant::now(), (self.witness)());
        let (mut report, mut part) = (None::<Vec<u8>>, [0; 65_536]);
        loop {
            let ready = match poll(&mut [PollFd::new(&*reader, PollFlags::IN)], Some(&tick)) {
                Ok(count) => count > 0,
                Err(rustix::io::Errno::INTR) => false,
                Err(errno) => return Err(errno.into()),
            };
            if ready {
                let count = reader.read(&mut part)?;
                if count == 0 {
                    return Ok(report);
                }
                moved.0 = Instant::now();
                match &mut report {
                    Some(report) => report.extend_from_slice(&part[..count]),
                    None => {
                        let begin = part[..count].iter().position(|byte| *byte == REPORT);
                        report = begin.map(|at| part[at + 1..count].to_vec());
                    }
                }
            }
            let seen = (self.witness)();
            if seen != moved.1 {
                moved = (Instant::now(), seen);
            }
            if !(self.go_on)() {
                return Err(io::ErrorKind::Interrupted.into());
            }
            if moved.0.elapsed() > self.idle {
                let text = format!("nothing moved for {} s", self.idle.as_secs());
                return Err(io::Error::new(io::ErrorKind::TimedOut, text));
            }
        }
    }
}

/// Reaps the process; false where it was killed and stays, as one does that hangs in the kernel.
fn wait_a_while(pid: Pid, was_killed: bool) -> io::Result<bool> {
    let began = Instant::now();
    loop {
        match waitpid(Some(pid), WaitOptions::NOHANG) {
            Ok(Some(_)) => return Ok(true),
            Ok(None) if was_killed && began.elapsed() > KILL_PATIENCE => return Ok(false),
            Ok(None) => std::thread::sleep(Duration::from_millis(1)),
            Err(rustix::io::Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
}

fn become_worker(
    report: OwnedFd,
    parent: Pid,
    keeps: Option<RawFd>,
    work: impl FnOnce(&dyn Fn()) -> Vec<u8>,
) -> ! {
    let mut report = File::from(report);
    let reported = catch_unwind(AssertUnwindSafe(|| {
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
        if rustix::process::getppid() != Some(parent) {
            // It died before we asked for its signal.
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        leave_files_of_the_parent(report.as_raw_fd(), keeps)?;
        let said = std::cell::Cell::new(Instant::now());
        let alive = || {
            if said.get().elapsed() > TICK {
                said.set(Instant::now());
                let _ = (&report).write_all(&[ALIVE]);
            }
        };
        let bytes = work(&alive);
        report.write_all(&[REPORT])?;
        report.write_all(&bytes)
    }));
    let status = i32::from(!matches!(reported, Ok(Ok(()))));
    // SAFETY: ends the process without running what the parent has registered for its own end.
    unsafe { libc::_exit(status) }
}

/// A worker that is left behind must not hold locks, pipes and devices of its parent: standard
/// files become /dev/null, and every other but the two that are named is closed.
fn leave_files_of_the_parent(report: RawFd, keeps: Option<RawFd>) -> io::Result<()> {
    let null = File::options().read(true).write(true).open("/dev/null")?;
    for standard in 0..3 {
        // SAFETY: dup2 takes numbers alone; whoever uses the standard files finds /dev/null.
        if unsafe { libc::dup2(null.as_raw_fd(), standard) } < 0 {
            return Err(io::Error::last_os_error());
        }
    }
    let mut kept: Vec<u32> = [Some(report), keeps]
        .into_iter()
        .flatten()
        .filter_map(|file| u32::try_from(file).ok())
        .collect();
    kept.sort_unstable();
    let mut first = 3;
    for file in kept {
        if file > first {
            close_files(first, file - 1);
        }
        first = first.max(file + 1);
    }
    close_files(first, u32::MAX);
    // `null` is closed by its number already.
    std::mem::forget(null);
    Ok(())
}

fn close_files(first: u32, last: u32) {
    // SAFETY: the process is a copy of its parent that uses none of these files; their owners in
    // memory are never dropped, since it ends by _exit. Where the call is unknown, they stay open.
    unsafe { libc::syscall(libc::SYS_close_range, first, last, 0_u32) };
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: Duration = Duration::from_millis(300);

    #[test]
    fn what_the_work_returns_is_reported_whatever_its_length() {
        let bytes: Vec<u8> = (0..1_000_000_u32).map(|n| n.to_le_bytes()[0]).collect();
        let expected = bytes.clone();
        let reported = TimeLimit::of(Duration::from_secs(20)).run(move |_| bytes);
        assert_eq!(reported.expect("reported"), expected);
    }

    #[test]
    fn work_that_stands_still_is_given_up_and_work_that_moves_is_not() {
        let began = Instant::now();
        let hung = TimeLimit::of(SHORT).run(|_| {
            std::thread::sleep(Duration::from_secs(600));
            Vec::new()
        });
        assert_eq!(hung.expect_err("hung").kind(), io::ErrorKind::TimedOut);
        assert!(began.elapsed() < Duration::from_secs(20));
        let moving = TimeLimit::of(Duration::from_secs(2)).run(|alive| {
            for _ in 0..30 {
                std::thread::sleep(Duration::from_millis(100));
                alive();
            }
            b"done".to_vec()
        });
        assert_eq!(moving.expect("it moved"), b"done");
    }

    #[test]
    fn a_witness_keeps_work_alive_and_who_does_not_want_it_ends_it() {
        let began = Instant::now();
        let witness = || began.elapsed().as_millis().try_into().unwrap_or(0);
        let limit = TimeLimit {
            witness: &witness,
            ..TimeLimit::of(Duration::from_secs(1))
        };
        let slow = limit.run(|_| {
            std::thread::sleep(Duration::from_secs(2));
            Vec::new()
        });
        slow.expect("something moved");
        let unwanted = TimeLimit {
            go_on: &|| false,
            ..limit
        };
        let ended = unwanted.run(|_| {
            std::thread::sleep(Duration::from_secs(600));
            Vec::new()
        });
        let error = ended.expect_err("not wanted");
        assert_eq!(error.kind(), io::ErrorKind::Interrupted);
    }

    #[test]
    fn the_work_holds_one_file_of_its_parent_and_no_other() {
        let (kept, other) = (File::open("/proc/version"), File::open("/proc/uptime"));
        let (kept, other) = (kept.expect("a file"), other.expect("a file"));
        let limit = TimeLimit {
            keeps: Some(&kept),
            ..TimeLimit::of(Duration::from_secs(20))
        };
        let links = limit.run(|_| {
            let entries = std::fs::read_dir("/proc/self/fd").into_iter().flatten();
            let links = entries.flatten().map(|entry| entry.path());
            let links = links.filter_map(|path| std::fs::read_link(path).ok());
            let all: Vec<_> = links.map(|link| link.display().to_string()).collect();
            all.join("\n").into_bytes()
        });
        let links = String::from_utf8(links.expect("reported")).expect("text");
        assert!(links.contains("/proc/version"), "{links}");
        assert!(!links.contains("/proc/uptime"), "{links}");
        drop(other);
    }

    #[test]
    fn a_panic_is_an_error() {
        let ended = TimeLimit::of(Duration::from_secs(20)).run(|_| panic!("of the test"));
        assert!(ended.is_err());
    }
}
