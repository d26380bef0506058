//! A child process in a job object: it and all that it starts end together, at the latest with this
//! process.

use std::io;
use std::os::windows::io::AsRawHandle;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus};
use std::time::Duration;

use windows_sys::Win32::Foundation::{CloseHandle, HANDLE, WAIT_OBJECT_0};
use windows_sys::Win32::System::JobObjects::{
    AssignProcessToJobObject, CreateJobObjectW, JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE,
    JOBOBJECT_BASIC_ACCOUNTING_INFORMATION, JOBOBJECT_EXTENDED_LIMIT_INFORMATION,
    JobObjectBasicAccountingInformation, JobObjectExtendedLimitInformation,
    QueryInformationJobObject, SetInformationJobObject, TerminateJobObject,
};
use windows_sys::Win32::System::Threading::{INFINITE, WaitForSingleObject};

use super::process::ENDED;
use super::text::check;
use crate::os::CommandExt;
use crate::{ProcessIdentity, ResourceUse, Signal};

/// A job object. The system ends its processes when the last handle is closed.
#[derive(Debug)]
struct Job(HANDLE);

// SAFETY: the handle has one owner and is not bound to a thread.
unsafe impl Send for Job {}
// SAFETY: the calls on a job may be made by any thread.
unsafe impl Sync for Job {}

impl Job {
    fn new() -> io::Result<Self> {
        // SAFETY: neither attributes nor a name are passed.
        let handle = unsafe { CreateJobObjectW(std::ptr::null(), std::ptr::null()) };
        if handle.is_null() {
            return Err(io::Error::last_os_error());
        }
        let job = Self(handle);
        let mut limits = JOBOBJECT_EXTENDED_LIMIT_INFORMATION::default();
        limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;
        // SAFETY: the structure outlives the call, and its size is passed.
        check(unsafe {
            SetInformationJobObject(
                job.0,
                JobObjectExtendedLimitInformation,
                (&raw const limits).cast(),
                size_of_val(&limits) as u32,
            )
        })?;
        Ok(job)
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        // SAFETY: the handle is open and not used again.
        unsafe { CloseHandle(self.0) };
    }
}

/// A process and all that it starts.
#[derive(Debug)]
pub struct ProcessGroup {
    /// The leader's standard input, if it is a pipe.
    pub stdin: Option<ChildStdin>,
    /// The leader's standard output, if it is a pipe.
    pub stdout: Option<ChildStdout>,
    /// The leader's standard error, if it is a pipe.
    pub stderr: Option<ChildStderr>,
    leader: Child,
    job: Job,
    pub(crate) is_reaped: bool,
}

impl ProcessGroup {
    /// Starts `command` in a new job. What it starts before it is assigned to the job, in the first
    /// microseconds, is not in it.
    pub fn spawn(mut command: Command) -> io::Result<Self> {
        let job = Job::new()?;
        // A program that runs without the variable cannot load its libraries.
        if let Some(root) = std::env::var_os("SystemRoot") {
            command.env("SystemRoot", root);
        }
        let mut child = command.process_group(0).spawn()?;
        // SAFETY: both handles are open.
        let assigned = check(unsafe { AssignProcessToJobObject(job.0, child.as_raw_handle()) });
        if let Err(error) = assigned {
            let _ = child.kill();
            let _ = child.wait();
            return Err(error);
        }
        Ok(Self {
            stdin: child.stdin.take(),
            stdout: child.stdout.take(),
            stderr: child.stderr.take(),
            leader: child,
            job,
            is_reaped: false,
        })
    }

    /// PID of the leader.
    pub fn id(&self) -> u32 {
        self.leader.id()
    }

    /// The leader's identity, valid after its PID is reused.
    pub fn identity(&self) -> ProcessIdentity {
        ProcessIdentity::of(self.id())
    }

    /// True if the leader has ended.
    pub fn has_ended(&self) -> io::Result<bool> {
        Ok(self.waited(0))
    }

    /// True if the leader ends within `limit`.
    pub(super) fn has_ended_within(&self, limit: Duration) -> bool {
        self.waited(u32::try_from(limit.as_millis()).unwrap_or(INFINITE - 1))
    }

    fn waited(&self, limit_ms: u32) -> bool {
        // SAFETY: the handle is open.
        unsafe { WaitForSingleObject(self.leader.as_raw_handle(), limit_ms) == WAIT_OBJECT_0 }
    }

    /// Waits until the leader has ended.
    pub fn wait(&self) -> io::Result<()> {
        self.waited(INFINITE);
        Ok(())
    }

    /// Ends all processes of the job, whatever the signal: Windows has none that asks. The venue
    /// `dir` undoes what a trial leaves.
    pub fn signal(&self, _signal: Signal) -> io::Result<()> {
        if self.is_reaped {
            return Ok(());
        }
        // SAFETY: the handle is open.
        check(unsafe { TerminateJobObject(self.job.0, ENDED) })
    }

    /// Processor time of all processes of the job, those that have ended included; 0 if the system
    /// does not count it.
    pub(super) fn used(&self) -> ResourceUse {
        let mut counted = JOBOBJECT_BASIC_ACCOUNTING_INFORMATION::default();
        // SAFETY: the handle is open; the structure outlives the call, and its size is passed.
        let asked = check(unsafe {
            QueryInformationJobObject(
                self.job.0,
                JobObjectBasicAccountingInformation,
                (&raw mut counted).cast(),
                size_of_val(&counted) as u32,
                std::ptr::null_mut(),
            )
        });
        let ns = |units: i64| units.unsigned_abs() * 100;
        match asked {
            Err(_) => ResourceUse::default(),
            Ok(()) => ResourceUse {
                user_ns: ns(counted.TotalUserTime),
                system_ns: ns(counted.TotalKernelTime),
                ..ResourceUse::default()
            },
        }
    }

    /// Ends what is left of the job; returns the leader's status and the processor time it used.
    pub fn reap(&mut self) -> io::Result<(ExitStatus, ResourceUse)> {
        if self.is_reaped {
            return Err(io::ErrorKind::NotFound.into());
        }
        self.signal(Signal::Kill)?;
        self.is_reaped = true;
        let status = self.leader.wait()?;
        Ok((status, ResourceUse::of_handle(self.leader.as_raw_handle())))
    }
}
