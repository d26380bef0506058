//! Copies of this process that do one piece of work and report it in bytes.
//!
//! ```text
//!     parent                      worker (a fork)
//!     wait_until_ready   <-- 1 byte --  ready_and_wait, or its early end
//!     begin               -- 1 byte --> (goes on)
//!     collect            <-- bytes ---  what the work returned, then exit
//! ```
//!
//! A worker dies with its parent, and is killed and reaped when its handle is dropped.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, getpid, kill_process, waitpid};

use crate::process::set_death_signal;

/// The status with which a worker ends that panicked.
const PANICKED: i32 = 101;
/// The worker's first byte: it waits for the others.
const READY: u8 = 1;
/// The worker's first byte: it has nothing to wait for, and its report follows.
const EARLY: u8 = 0;

/// The parent's end of a worker.
#[derive(Debug)]
pub struct WorkerProcess {
    /// `None` after it was reaped.
    pid: Option<Pid>,
    report: File,
    command: File,
    /// Whether its first byte was read.
    heard: bool,
}

/// The worker's end.
#[derive(Debug)]
pub struct WorkerSide {
    report: File,
    command: File,
    /// Whether the first byte was written.
    spoke: bool,
}

impl WorkerSide {
    /// Tells the parent that all is prepared, and waits until it says so to all workers.
    ///
    /// # Errors
    /// `UnexpectedEof` where the parent gave up.
    pub fn ready_and_wait(&mut self) -> io::Result<()> {
        self.spoke = true;
        self.report.write_all(&[READY])?;
        self.command.read_exact(&mut [0])
    }
}

impl WorkerProcess {
    /// Forks a worker that does `work`, reports the bytes it returns, and ends.
    ///
    /// The worker has the calling thread only. What other threads were doing is as they left it in
    /// that moment: `work` must not wait for any of them, nor print.
    ///
    /// # Errors
    /// That of pipe(2) or fork(2).
    pub fn fork(work: impl FnOnce(&mut WorkerSide) -> Vec<u8>) -> io::Result<Self> {
        let (report, worker_report) = pipe_with(PipeFlags::CLOEXEC)?;
        let (worker_command, command) = pipe_with(PipeFlags::CLOEXEC)?;
        let parent = getpid();
        // SAFETY: the C library keeps its allocator usable in the child; nothing else that another
        // thread could have locked is used there, and the child never returns from here.
        let pid = unsafe { libc::fork() };
        if pid < 0 {
            return Err(io::Error::last_os_error());
        }
        let Some(pid) = Pid::from_raw(pid) else {
            drop((report, command));
            become_worker(parent, worker_report, worker_command, work);
        };
        Ok(Self {
            pid: Some(pid),
            report: report.into(),
            command: command.into(),
            heard: false,
        })
    }

    /// Waits until the worker is prepared, or `gives_up` says that nobody cares any more. Gives
    /// false where the worker came to its end without waiting; its report says why.
    ///
    /// # Errors
    /// `UnexpectedEof` where the worker died before; `Interrupted` where it was given up.
    pub fn wait_until_ready(&mut self, gives_up: impl Fn() -> bool) -> io::Result<bool> {
        self.wait_readable(gives_up)?;
        let mut first = [EARLY];
        self.report.read_exact(&mut first)?;
        self.heard = true;
        Ok(first == [READY])
    }

    /// Lets the worker go on.
    ///
    /// # Errors
    /// That of write(2), where the worker has ended.
    pub fn begin(&mut self) -> io::Result<()> {
        self.command.write_all(&[1])
    }

    /// Waits for the end of the worker, and gives what it reported; stops waiting, and kills it,
    /// where `gives_up` says that nobody cares any more.
    ///
    /// # Errors
    /// `Interrupted` where it was given up; a sentence where the worker ended by a signal or with
    /// a status other than 0.
    pub fn collect(mut self, gives_up: impl Fn() -> bool) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let mut part = [0; 65_536];
        loop {
            self.wait_readable(&gives_up)?;
            match self.report.read(&mut part)? {
                0 => break,
                count => bytes.extend_from_slice(&part[..count]),
            }
        }
        match self.reap()? {
            Some(status) if status.exit_status() == Some(0) => {
                let first = usize::from(!self.heard).min(bytes.len());
                Ok(bytes.split_off(first))
            }
            Some(status) => Err(io::Error::other(death(status))),
            None => Err(io::Error::other("a worker process was reaped elsewhere")),
        }
    }

    fn wait_readable(&self, gives_up: impl Fn() -> bool) -> io::Result<()> {
        let patience = Timespec::try_from(Duration::from_millis(20)).map_err(io::Error::other)?;
        loop {
            let mut watched = [PollFd::new(&self.report, PollFlags::IN)];
            match poll(&mut watched, Some(&patience)) {
                Ok(0) | Err(rustix::io::Errno::INTR) => {}
                Ok(_) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
            if gives_up() {
                return Err(io::ErrorKind::Interrupted.into());
            }
        }
    }

    fn reap(&mut self) -> io::Result<Option<WaitStatus>> {
        let Some(pid) = self.pid.take() else {
            return Ok(None);
        };
        loop {
            match waitpid(Some(pid), WaitOptions::empty()) {
                Ok(reaped) => return Ok(reaped.map(|(_, status)| status)),
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

impl Drop for WorkerProcess {
    fn drop(&mut self) {
        if let Some(pid) = self.pid {
            // One that has ended already stays to be reaped, so its number is still its own.
            let _ = kill_process(pid, Signal::KILL);
            let _ = self.reap();
        }
    }
}

fn death(status: WaitStatus) -> String {
    match (status.terminating_signal(), status.exit_status()) {
        (Some(signal), _) => {
            format!(
                "a worker process was ended by {}",
                crate::signal_name(signal)
            )
        }
        (None, Some(PANICKED)) => "a worker process panicked".to_owned(),
        (None, status) => format!("a worker process ended with status {status:?}"),
    }
}

fn become_worker(
    parent: Pid,
    report: OwnedFd,
    command: OwnedFd,
    work: impl FnOnce(&mut WorkerSide) -> Vec<u8>,
) -> ! {
    let mut side = WorkerSide {
        report: report.into(),
        command: command.into(),
        spoke: false,
    };
    let reported = catch_unwind(AssertUnwindSafe(|| {
        set_death_signal(Signal::KILL, parent)?;
        let bytes = work(&mut side);
        if !side.spoke {
            side.report.write_all(&[EARLY])?;
        }
        side.report.write_all(&bytes)
    }));
    let status = match reported {
        Ok(Ok(())) => 0,
        Ok(Err(_)) => 1,
        Err(_) => PANICKED,
    };
    // SAFETY: ends the process without running what the parent has registered for its own end.
    unsafe { libc::_exit(status) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEVER: fn() -> bool = || false;

    #[test]
    fn workers_begin_together_and_report_what_they_made() {
        let fork = |number: u8| {
            WorkerProcess::fork(move |side| {
                side.ready_and_wait().expect("the parent waits");
                vec![number; 100_000]
            })
        };
        let mut workers: Vec<_> = (0..3).map(|n| fork(n).expect("forks")).collect();
        for worker in &mut workers {
            assert!(worker.wait_until_ready(NEVER).expect("is there"));
        }
        for worker in &mut workers {
            worker.begin().expect("is there");
        }
        for (number, worker) in (0..).zip(workers) {
            let bytes = worker.collect(NEVER).expect("reports");
            assert_eq!(bytes, vec![number; 100_000]);
        }
    }

    #[test]
    fn a_worker_that_ends_early_reports_all_the_same() {
        for asks in [true, false] {
            let mut worker = WorkerProcess::fork(|_| b"early".to_vec()).expect("forks");
            if asks {
                assert!(!worker.wait_until_ready(NEVER).expect("is there"));
            }
            assert_eq!(worker.collect(NEVER).expect("reports"), b"early");
        }
    }

    #[test]
    fn a_worker_that_is_killed_is_reported_by_its_signal() {
        let worker = WorkerProcess::fork(|_| {
            // SAFETY: a process may kill itself.
            unsafe { libc::raise(libc::SIGKILL) };
            Vec::new()
        });
        let error = worker
            .expect("forks")
            .collect(NEVER)
            .expect_err("was killed");
        assert!(error.to_string().contains("SIGKILL"), "{error}");
    }

    #[test]
    fn a_worker_that_nobody_waits_for_is_ended() {
        let mut worker = WorkerProcess::fork(|side| {
            let _ = side.ready_and_wait();
            loop {
                std::thread::sleep(Duration::from_secs(1));
            }
        })
        .expect("forks");
        worker.wait_until_ready(NEVER).expect("is ready");
        worker.begin().expect("is there");
        let pid = worker.pid.expect("was not reaped");
        let given_up = worker.collect(|| true).expect_err("nobody waits");
        assert_eq!(given_up.kind(), io::ErrorKind::Interrupted);
        assert!(
            rustix::process::test_kill_process(pid).is_err(),
            "it is gone"
        );
    }
}
