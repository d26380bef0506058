//! A program in a job object, with its output and resource use.
//!
//! A thread reads the output. What the program starts ends with it, since it is in the same job.

use std::io::{self, PipeReader, Read};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::clock::monotonic_ns;
use super::process_group::ProcessGroup;
use crate::every_platform::KeptOutput;
use crate::{GroupEnd, Signal};

/// Interval at which a waiter checks for cancellation.
const LOOK_EACH: Duration = Duration::from_millis(100);
/// Interval at which it looks for output.
const OUTPUT_EACH: Duration = Duration::from_millis(5);
/// Timeout of the output of a group that has ended.
const OUTPUT_TIMEOUT: Duration = Duration::from_secs(2);

/// A running program and its descendants.
#[derive(Debug)]
pub struct ChildGroup {
    group: ProcessGroup,
    start_ns: u64,
    output: Arc<Mutex<KeptOutput>>,
    /// Receives the end of the output.
    complete: Receiver<()>,
}

impl ChildGroup {
    /// Starts `command` without standard input. Keeps the last `kept_bytes` of the group's output.
    ///
    /// # Errors
    /// That of CreatePipe or CreateProcess: `NotFound` if there is no such program.
    pub fn start(mut command: Command, kept_bytes: usize) -> io::Result<Self> {
        let (reader, writer) = io::pipe()?;
        command
            .stdin(Stdio::null())
            .stdout(writer.try_clone()?)
            .stderr(writer);
        let start_ns = monotonic_ns();
        let group = ProcessGroup::spawn(command)?;
        let output = Arc::new(Mutex::new(KeptOutput::new(kept_bytes)));
        let (sender, complete) = channel();
        let into = Arc::clone(&output);
        std::thread::spawn(move || {
            keep(reader, &into);
            let _ = sender.send(());
        });
        Ok(Self {
            group,
            start_ns,
            output,
            complete,
        })
    }

    /// Start time of the leader by [`monotonic_ns`], excluding the setup of this handle.
    pub fn start_ns(&self) -> u64 {
        self.start_ns
    }

    /// PID of the leader.
    pub fn id(&self) -> u32 {
        self.group.id()
    }

    /// Waits until the leader has exited: true; or until `gives_up`, called about ten times a
    /// second, returns true: false.
    pub fn wait_for_leader(&mut self, mut gives_up: impl FnMut() -> bool) -> io::Result<bool> {
        loop {
            if self.group.has_ended_within(LOOK_EACH) {
                return Ok(true);
            }
            if gives_up() {
                return Ok(false);
            }
        }
    }

    /// True if the leader has exited. Returns after `timeout`, or if there is output or the leader
    /// exits.
    pub fn poll_output(&mut self, timeout: Duration) -> io::Result<bool> {
        let began = Instant::now();
        let before = self.kept().printed();
        loop {
            if self.group.has_ended_within(OUTPUT_EACH) {
                return Ok(true);
            }
            if self.kept().printed() != before || began.elapsed() > timeout {
                return Ok(false);
            }
        }
    }

    /// The end of the output so far.
    pub fn output(&self) -> String {
        self.kept().text()
    }

    /// Ends the group: Windows has no signal that asks.
    pub fn terminate(&self) -> io::Result<()> {
        self.group.signal(Signal::Terminate)
    }

    /// Ends the remaining processes.
    pub fn reap(mut self) -> io::Result<GroupEnd> {
        let used_by_all = self.group.used();
        let (status, of_leader) = self.group.reap()?;
        let _ = self.complete.recv_timeout(OUTPUT_TIMEOUT);
        let kept = self.kept();
        let (output, output_cut_bytes) = (kept.text(), kept.cut_bytes());
        drop(kept);
        // Wine does not count those of a job.
        let is_counted = used_by_all.user_ns + used_by_all.system_ns > 0;
        Ok(GroupEnd {
            code: status.code(),
            signal: None,
            used: if is_counted { used_by_all } else { of_leader },
            output,
            output_cut_bytes,
        })
    }

    fn kept(&self) -> MutexGuard<'_, KeptOutput> {
        self.output.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ChildGroup {
    fn drop(&mut self) {
        // Does nothing if it was reaped before.
        let _ = self.group.reap();
    }
}

/// Reads to the end of the output.
fn keep(mut reader: PipeReader, into: &Mutex<KeptOutput>) {
    let mut part = [0; 16_384];
    loop {
        match reader.read(&mut part) {
            Ok(0) => return,
            Ok(count) => {
                let mut output = into.lock().unwrap_or_else(PoisonError::into_inner);
                output.push(&part[..count]);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEVER: fn() -> bool = || false;

    fn shell(line: &str) -> ChildGroup {
        let mut command = Command::new("cmd.exe");
        command.args(["/C", line]);
        ChildGroup::start(command, 1_000).expect("it starts")
    }

    #[test]
    fn a_program_is_timed_to_its_end_with_its_output_and_status() {
        let mut group = shell("echo out& exit 3");
        assert!(group.wait_for_leader(NEVER).expect("waits"));
        let end = group.reap().expect("reaped");
        assert_eq!((end.code, end.output.trim()), (Some(3), "out"), "{end:?}");
    }

    #[test]
    fn a_missing_program_is_an_error() {
        let missing = ChildGroup::start(Command::new("C:\\no\\such\\program.exe"), 10);
        let error = missing.expect_err("is missing");
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
