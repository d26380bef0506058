//! Forks of this process that run some work and report the result as bytes.
//!
//! ```text
//!     parent                      worker (a fork)
//!     wait_until_ready   <-- 1 byte --  ready_and_wait, or its early end
//!     begin               -- 1 byte --> (continues)
//!     collect            <-- bytes ---  the work's result, then exit
//! ```
//!
//! A worker dies with its parent; dropping its handle kills and reaps it.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, getpid, kill_process, waitpid};

use super::process::set_death_signal;

/// Exit status of a worker that panicked.
const PANICKED: i32 = 101;
/// First byte: the worker is ready and waits for the others.
const READY: u8 = 1;
/// First byte: the worker does not wait, and its report follows.
const EARLY: u8 = 0;

/// The parent's handle of a worker.
#[derive(Debug)]
pub struct WorkerProcess {
    /// `None` after it was reaped.
    pid: Option<Pid>,
    report: File,
    command: File,
    /// True once its first byte was read.
    is_ready_read: bool,
}

/// The worker's side.
#[derive(Debug)]
pub struct WorkerSide {
    report: File,
    command: File,
    /// True once the first byte was written.
    is_ready_sent: bool,
}

impl WorkerSide {
    /// Reports that the worker is ready, and waits until the parent starts all workers.
    ///
    /// # Errors
    /// `UnexpectedEof` if the parent has given up.
    pub fn ready_and_wait(&mut self) -> io::Result<()> {
        self.is_ready_sent = true;
        self.report.write_all(&[READY])?;
        self.command.read_exact(&mut [0])
    }
}

impl WorkerProcess {
    /// Forks a worker that runs `work`, reports the bytes it returns, and ends.
    ///
    /// The worker has only the calling thread; locks of others stay as they were at the fork:
    /// `work` must not wait for another thread, nor print.
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
            is_ready_read: false,
        })
    }

    /// Waits until the worker is ready or `gives_up` returns true. False if the worker ended
    /// without waiting; its report says why.
    ///
    /// # Errors
    /// `UnexpectedEof` if the worker died before; `Interrupted` if cancelled.
    pub fn wait_until_ready(&mut self, gives_up: impl Fn() -> bool) -> io::Result<bool> {
        self.wait_readable(gives_up)?;
        let mut first = [EARLY];
        self.report.read_exact(&mut first)?;
        self.is_ready_read = true;
        Ok(first == [READY])
    }

    /// Lets the worker continue.
    pub fn begin(&mut self) -> io::Result<()> {
        self.command.write_all(&[1])
    }

    /// Waits for the end of the worker and returns its report; kills it if `gives_up` returns true.
    ///
    /// # Errors
    /// `Interrupted` if cancelled; a message if the worker ended by a signal or with a status other
    /// than 0.
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
                let first = usize::from(!self.is_ready_read).min(bytes.len());
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
            // An ended worker stays a zombie, so its PID is still valid.
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
        is_ready_sent: false,
    };
    let reported = catch_unwind(AssertUnwindSafe(|| {
        set_death_signal(Signal::KILL, parent)?;
        let bytes = work(&mut side);
        if !side.is_ready_sent {
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
    fn workers_start_together_and_report_their_results() {
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
    fn a_worker_that_ends_early_still_reports() {
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
    fn a_dropped_worker_is_killed() {
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
