//! Runs work that may hang in the kernel in a process that can be abandoned.
//!
//! A thread that waits for a dead device keeps its process from ending, even after SIGKILL. So the
//! work runs in a fork, which reports its result as bytes and is abandoned if it makes no progress.
//! Processor time that it uses is progress: on a busy machine it may wait for a processor for long,
//! but what hangs in the kernel uses none.
//! The fork closes all files of its parent except those that the parent names.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};

use super::close_files::close_files;
use crate::{ProcessStat, TimeLimit};

/// Interval at which the parent checks for progress.
const TICK: Duration = Duration::from_millis(100);
/// From SIGKILL until a process counts as stuck in the kernel.
const KILL_TIMEOUT: Duration = Duration::from_secs(1);
/// First byte of the report; 0 bytes before it signal progress.
const REPORT: u8 = 1;
const ALIVE: u8 = 0;

impl TimeLimit<'_> {
    /// Runs `work` in a fork of this process and returns its result. The work signals progress by
    /// calling its argument; it must neither print nor wait for another thread.
    ///
    /// # Errors
    /// `TimedOut` without progress for too long, with the process abandoned; `Interrupted` if
    /// cancelled; those of pipe(2) and fork(2), and a message if the process died.
    pub fn run(&self, work: impl FnOnce(&dyn Fn()) -> Vec<u8>) -> io::Result<Vec<u8>> {
        let (reader, writer) = pipe_with(PipeFlags::CLOEXEC)?;
        let parent = rustix::process::getpid();
        // SAFETY: the C library keeps its allocator usable in the child; nothing else that another
        // thread may have locked is used there, and the child never returns from here.
        let pid = unsafe { libc::fork() };
        if pid < 0 {
            return Err(io::Error::last_os_error());
        }
        let Some(pid) = Pid::from_raw(pid) else {
            become_worker(writer, parent, self.keeps.map(AsRawFd::as_raw_fd), work);
        };
        drop(writer);
        let received = self.receive(&mut reader.into(), pid);
        if received.is_err() {
            // Not reaped yet, so its PID is still valid.
            let _ = kill_process(pid, Signal::KILL);
        }
        let is_gone = reap_within_limit(pid, received.is_err())?;
        match received? {
            Some(bytes) => Ok(bytes),
            None if is_gone => Err(io::Error::other("the process that did it died")),
            None => Err(io::ErrorKind::TimedOut.into()),
        }
    }

    /// Receives the report of `worker`; `None` if it ended without one.
    fn receive(&self, reader: &mut File, worker: Pid) -> io::Result<Option<Vec<u8>>> {
        let tick = Timespec::try_from(TICK).map_err(io::Error::other)?;
        let activity = || ((self.activity)(), used_ns(worker));
        let mut moved = (Instant::now(), activity());
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
            let seen = activity();
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

/// Processor time of a process; 0 if it is not known.
fn used_ns(process: Pid) -> u64 {
    let pid = process.as_raw_nonzero().get().cast_unsigned();
    ProcessStat::of(pid).map_or(0, |stat| stat.used_ns)
}

/// Reaps the process; false if it was killed but still exists, stuck in the kernel.
fn reap_within_limit(pid: Pid, was_killed: bool) -> io::Result<bool> {
    let began = Instant::now();
    loop {
        match waitpid(Some(pid), WaitOptions::NOHANG) {
            Ok(Some(_)) => return Ok(true),
            Ok(None) if was_killed && began.elapsed() > KILL_TIMEOUT => return Ok(false),
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
            // The parent died before the request for its death signal.
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        leave_files_of_the_parent(report.as_raw_fd(), keeps)?;
        let signalled = std::cell::Cell::new(Instant::now());
        let alive = || {
            if signalled.get().elapsed() > TICK {
                signalled.set(Instant::now());
                let _ = (&report).write_all(&[ALIVE]);
            }
        };
        let bytes = work(&alive);
        report.write_all(&[REPORT])?;
        report.write_all(&bytes)
    }));
    let status = i32::from(!matches!(reported, Ok(Ok(()))));
    // SAFETY: ends the process without running the parent's exit handlers.
    unsafe { libc::_exit(status) }
}

/// An abandoned worker must not hold locks, pipes and devices of its parent: the standard files
/// become /dev/null, and all others except the two given are closed.
fn leave_files_of_the_parent(report: RawFd, keeps: Option<RawFd>) -> io::Result<()> {
    let null = File::options().read(true).write(true).open("/dev/null")?;
    for standard in 0..3 {
        // SAFETY: dup2 takes only numbers; users of the standard files get /dev/null.
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
    // SAFETY: this forked process uses none of these files, and their owners are never dropped,
    // since it ends by _exit.
    let close = |first, last| unsafe { close_files(first, last) };
    let mut first = 3;
    for file in kept {
        if file > first {
            close(first, file - 1);
        }
        first = first.max(file + 1);
    }
    close(first, u32::MAX);
    // `null` has been closed by its number.
    std::mem::forget(null);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: Duration = Duration::from_millis(300);

    #[test]
    fn results_of_any_length_are_reported() {
        let bytes: Vec<u8> = (0..1_000_000_u32).map(|n| n.to_le_bytes()[0]).collect();
        let expected = bytes.clone();
        let reported = TimeLimit::of(Duration::from_secs(20)).run(move |_| bytes);
        assert_eq!(reported.expect("reported"), expected);
    }

    #[test]
    fn work_without_progress_is_abandoned_and_other_work_is_not() {
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

    /// A bug: on a busy machine the disk of a guest could not be made within the limit.
    #[test]
    fn use_of_a_processor_counts_as_progress() {
        let slow = TimeLimit::of(Duration::from_secs(1)).run(|_| {
            let began = Instant::now();
            while began.elapsed() < Duration::from_secs(2) {
                std::hint::spin_loop();
            }
            b"done".to_vec()
        });
        assert_eq!(slow.expect("it computed"), b"done");
    }

    #[test]
    fn device_activity_counts_as_progress_and_cancelled_work_ends() {
        let began = Instant::now();
        let activity = || began.elapsed().as_millis().try_into().unwrap_or(0);
        let limit = TimeLimit {
            activity: &activity,
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
