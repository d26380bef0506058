//! A program in a separate process group, with its output and resource use.
//!
//! ```text
//!     start --> leader --> its children, and theirs
//!                 |  exits, or is signalled
//!     wait_for_leader            the end of the program's time
//!     reap         kills the group, reaps all its processes: resource use, output
//! ```
//!
//! While a group runs, this process reaps orphans: after the group is reaped, none of them can keep
//! a mount busy. macOS reaps orphans itself: there the end of the group is waited for, and the
//! resource use of orphans is not counted. A process that leaves the group, as daemons do, is not
//! tracked. Dropping the handle kills and reaps the group; if this process is killed, the group's
//! keeper kills the group.

use std::io::{self, PipeReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::group_keeper::GroupKeeper;
use super::leader_end::LeaderEnd;
use super::process_group::{ProcessGroup, wait_with_use};
use super::reaper::{await_orphans, reap_orphans};
use crate::every_platform::KeptOutput;
use crate::{GroupEnd, ResourceUse, Signal, is_memory_locked, kill_with_parent, monotonic_ns};

/// Interval at which a waiter checks for cancellation.
const LOOK_EACH: Duration = Duration::from_millis(100);

/// A running program and its descendants.
#[derive(Debug)]
pub struct ChildGroup {
    _reaping: Reaping,
    /// `None` while the group is being killed by this process, which must reap the keeper first;
    /// also if this process has locked its memory, since its guest then ends with it.
    keeper: Option<GroupKeeper>,
    start_ns: u64,
    group: ProcessGroup,
    leader_end: LeaderEnd,
    /// `None` at end-of-file.
    output: Option<PipeReader>,
    kept: KeptOutput,
}

impl ChildGroup {
    /// Starts `command` with /dev/null as standard input. Keeps the last `kept_bytes` of the
    /// group's output.
    ///
    /// # Errors
    /// That of pipe(2), fork(2) or execve(2): `NotFound` if there is no such program.
    pub fn start(mut command: Command, kept_bytes: usize) -> io::Result<Self> {
        let (output, writer) = io::pipe()?;
        rustix::io::ioctl_fionbio(&output, true)?;
        command
            .stdin(Stdio::null())
            .stdout(writer.try_clone()?)
            .stderr(writer);
        kill_with_parent(&mut command);
        let reaping = Reaping::begin()?;
        let keeper = match is_memory_locked() {
            true => None,
            false => Some(GroupKeeper::start()?),
        };
        let start_ns = monotonic_ns();
        let group = ProcessGroup::spawn(command)?;
        let leader = group.leader();
        let mut started = Self {
            _reaping: reaping,
            keeper,
            start_ns,
            group,
            leader_end: LeaderEnd::of(leader)?,
            output: Some(output),
            kept: KeptOutput::new(kept_bytes),
        };
        let keeper = started.keeper.as_mut();
        keeper.map_or(Ok(()), |it| it.join(leader))?;
        Ok(started)
    }

    /// Start time of the leader by [`monotonic_ns`], excluding the setup of this handle.
    pub fn start_ns(&self) -> u64 {
        self.start_ns
    }

    /// PID of the leader, equal to the group's ID.
    pub fn id(&self) -> u32 {
        self.group.id()
    }

    /// Waits until the leader has exited: true; or until `gives_up`, called about ten times a
    /// second, returns true: false.
    pub fn wait_for_leader(&mut self, mut gives_up: impl FnMut() -> bool) -> io::Result<bool> {
        loop {
            if self.poll_output(LOOK_EACH)? {
                return Ok(true);
            }
            if gives_up() {
                return Ok(false);
            }
        }
    }

    /// Reads pending output; true if the leader has exited. Returns after `timeout`, or at once if
    /// there is output or the leader exits.
    pub fn poll_output(&mut self, timeout: Duration) -> io::Result<bool> {
        let timeout = Timespec::try_from(timeout).map_err(io::Error::other)?;
        let mut watched = vec![PollFd::new(&self.leader_end, PollFlags::IN)];
        if let Some(output) = &self.output {
            watched.push(PollFd::new(output, PollFlags::IN));
        }
        match poll(&mut watched, Some(&timeout)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let has_ended = !watched[0].revents().is_empty();
        self.take_output()?;
        Ok(has_ended)
    }

    /// The end of the output so far.
    pub fn output(&self) -> String {
        self.kept.text()
    }

    /// Sends SIGTERM to the group.
    pub fn terminate(&self) -> io::Result<()> {
        self.group.signal(Signal::Terminate)
    }

    /// Kills the remaining processes and reaps the group.
    pub fn reap(mut self) -> io::Result<GroupEnd> {
        let (status, used) = self.end()?;
        self.take_output()?;
        Ok(GroupEnd {
            code: status.code(),
            signal: status.signal(),
            used,
            output: self.output(),
            output_cut_bytes: self.kept.cut_bytes(),
        })
    }

    /// Reads all pending output without blocking.
    fn take_output(&mut self) -> io::Result<()> {
        let mut part = [0; 16_384];
        while let Some(output) = &mut self.output {
            match output.read(&mut part) {
                Ok(0) => self.output = None,
                Ok(count) => self.kept.push(&part[..count]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Kills and reaps the group; returns the leader's status and the resource use of all
    /// processes.
    fn end(&mut self) -> io::Result<(ExitStatus, ResourceUse)> {
        // As a member of the group the keeper would be reaped below, and its time counted.
        self.keeper = None;
        let (status, mut used) = self.group.reap()?;
        // This process reaps the leader's orphans, and theirs.
        loop {
            match wait_with_use(-self.group.leader().as_raw_pid()) {
                Ok((_, more)) => used = used.and(more),
                Err(error) if error.raw_os_error() == Some(libc::ECHILD) => break,
                Err(error) => return Err(error),
            }
        }
        await_orphans(self.group.leader());
        Ok((status, used))
    }
}

/// While an instance exists, this process reaps the orphans of its descendants.
#[derive(Debug)]
struct Reaping;

/// Number of instances. The lock is held during the system call.
static REAPING: Mutex<u32> = Mutex::new(0);

impl Reaping {
    fn begin() -> io::Result<Self> {
        let mut count = REAPING.lock().unwrap_or_else(PoisonError::into_inner);
        if *count == 0 {
            reap_orphans(true)?;
        }
        *count += 1;
        Ok(Self)
    }
}

impl Drop for Reaping {
    fn drop(&mut self) {
        let mut count = REAPING.lock().unwrap_or_else(PoisonError::into_inner);
        *count -= 1;
        if *count == 0 {
            let _ = reap_orphans(false);
        }
    }
}

impl Drop for ChildGroup {
    fn drop(&mut self) {
        // Does nothing if it was reaped before.
        let _ = self.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ProcessIdentity;

    const NEVER: fn() -> bool = || false;

    fn shell(script: &str) -> ChildGroup {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]);
        ChildGroup::start(command, 1_000).expect("sh starts")
    }

    #[test]
    fn a_program_is_timed_to_its_end_with_its_output_and_status() {
        let mut group = shell("echo out; echo err >&2; exit 3");
        assert!(group.wait_for_leader(NEVER).expect("waits"));
        let end = group.reap().expect("reaped");
        assert_eq!(
            (end.code, end.output.as_str()),
            (Some(3), "out\nerr\n"),
            "{end:?}"
        );
        assert_eq!(end.how(), "status 3");
    }

    #[test]
    fn the_end_of_the_output_is_kept() {
        let mut group = shell("i=0; while [ $i -lt 3000 ]; do echo line $i; i=$((i+1)); done");
        group.wait_for_leader(NEVER).expect("waits");
        let end = group.reap().expect("reaped");
        assert_eq!(end.output.len(), 1_000);
        assert!(end.output.ends_with("line 2999\n"));
        assert!(end.output_cut_bytes > 20_000);
    }

    #[test]
    fn resources_of_abandoned_children_are_counted() {
        let burn = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done";
        for script in [
            format!("sh -c '{burn}'; true"),
            // The child outlives the leader and is killed; `read` waits until it has used processor
            // time.
            format!(
                "mkfifo \"$0\"; sh -c '{burn}; echo >\"$0\"; sleep 600' \"$0\" & read x <\"$0\""
            ),
        ] {
            let fifo = std::env::temp_dir().join(format!("fslab-fifo-{}", std::process::id()));
            let mut command = Command::new("/bin/sh");
            command.arg("-c").arg(script).arg(&fifo);
            let mut group = ChildGroup::start(command, 1_000).expect("sh starts");
            assert!(group.wait_for_leader(NEVER).expect("waits"));
            let end = group.reap().expect("reaped");
            let _ = std::fs::remove_file(&fifo);
            assert_eq!(end.code, Some(0), "{end:?}");
            assert!(end.used.user_ns + end.used.system_ns > 1_000_000, "{end:?}");
        }
    }

    #[test]
    fn a_dropped_group_is_killed_with_its_descendants() {
        let mut group = shell("sleep 600 & echo $!; wait");
        let mut number = None;
        while number.is_none() {
            assert!(!group.wait_for_leader(|| true).expect("waits"));
            number = group.output().trim().parse::<u32>().ok();
        }
        let end = group.reap().expect("reaped");
        assert_eq!(end.how(), "SIGKILL");
        let gone = number.is_some_and(|it| !ProcessIdentity::of(it).is_alive());
        assert!(gone, "the sleeper was killed and reaped");
    }

    /// Only the leader had been killed with its starter; its descendants ran on forever: a build,
    /// the workers of a server.
    #[test]
    fn a_group_whose_starter_is_killed_is_killed_with_its_descendants() {
        let worker = crate::WorkerProcess::fork(|side| {
            let mut group = shell("sleep 600 & echo $!; wait");
            while !group.output().ends_with('\n') {
                group.wait_for_leader(|| true).expect("waits");
            }
            let number = group.output().trim().parse::<u32>().expect("a number");
            std::fs::write(
                number_file(std::os::unix::process::parent_id()),
                number.to_string(),
            )
            .expect("written");
            let _ = side.ready_and_wait();
            Vec::new()
        });
        let mut worker = worker.expect("forks");
        assert!(worker.wait_until_ready(NEVER).expect("is ready"));
        let file = number_file(std::process::id());
        let text = std::fs::read_to_string(&file).expect("was written");
        std::fs::remove_file(&file).expect("ours");
        let number = text.parse().expect("a number");
        let is_there = || ProcessIdentity::of(number).is_alive();
        // Dropping the handle kills the worker with SIGKILL, so that it cannot clean up.
        drop(worker);
        let began = std::time::Instant::now();
        while is_there() && began.elapsed() < Duration::from_secs(10) {
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(!is_there(), "the sleeper {number} is still there");
    }

    fn number_file(process: u32) -> std::path::PathBuf {
        std::env::temp_dir().join(format!("fslab-sleeper-{process}"))
    }

    #[test]
    fn a_program_that_closes_its_output_is_still_waited_for() {
        let mut group = shell("exec >&- 2>&-; sleep 0.3; exit 7");
        assert!(group.wait_for_leader(NEVER).expect("waits"));
        assert_eq!(group.reap().expect("reaped").code, Some(7));
    }

    #[test]
    fn a_missing_program_is_an_error() {
        let missing = ChildGroup::start(Command::new("/no/such/program"), 10);
        let error = missing.expect_err("is missing");
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
