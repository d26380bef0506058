//! The process of one trial: its own group, a clean environment, a time limit, an end.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use fslab_model::{Event, Failure, FailureKind, RecordBuilder, TrialSpec};
use fslab_sys::GroupSignal;

use crate::control::Control;

/// From the request to end until the group is killed.
const GRACE: Duration = Duration::from_secs(15);
/// From the kill until the process is given up: the kernel does not let it go.
const KILL_PATIENCE: Duration = Duration::from_secs(10);
/// How long the pipes of a process that is gone are read.
const PIPE_PATIENCE: Duration = Duration::from_secs(2);
/// How often limit and control are looked at.
const TICK: Duration = Duration::from_millis(50);
/// How much of a trial's standard error is kept.
const CONSOLE_KEPT_BYTES: usize = 16 * 1024;

/// What a trial's process left.
pub(crate) struct Ending {
    pub(crate) builder: RecordBuilder,
    /// Why it ended, where it did not end by itself.
    pub(crate) death: Option<Failure>,
    pub(crate) console: String,
    pub(crate) elapsed: Duration,
    /// Whether it is still there, beyond the reach of a signal: what it holds must stay leased.
    pub(crate) is_stuck: bool,
}

/// How a trial's process is started and bounded.
pub(crate) struct Launch<'a> {
    pub(crate) program: &'a Path,
    pub(crate) spec: &'a TrialSpec,
    pub(crate) limit: Duration,
    pub(crate) control: &'a Control,
}

/// Why the process was told to end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cause {
    Limit,
    Request,
}

/// How the process ended.
enum End {
    /// It is gone.
    Gone(io::Result<ExitStatus>),
    /// It was killed, and is still there.
    Stuck,
}

impl Launch<'_> {
    /// Starts the process and stays until all of its group is gone.
    pub(crate) fn run(
        &self,
        started: impl FnOnce(u32) -> io::Result<()>,
        mut on_event: impl FnMut(&Event),
    ) -> Result<Ending, Failure> {
        let cannot_start = |error: io::Error| {
            Failure::new(FailureKind::Crash, "cannot start the trial's process").because(&error)
        };
        let began = Instant::now();
        let mut child = self.spawn().map_err(cannot_start)?;
        let watched = started(child.id()).and_then(|()| feed(&mut child, self.spec));
        let lines = read_lines(&mut child);
        let console = read_console(&mut child);
        let mut builder = RecordBuilder::default();
        let mut garbage = None;
        let (end, cause) = self.watch(&mut child, &lines, |line| {
            match serde_json::from_str::<Event>(&line) {
                Ok(event) => {
                    on_event(&event);
                    builder.push(event);
                }
                Err(error) => {
                    garbage.get_or_insert(format!("{error} in '{}'", shorten(&line)));
                }
            }
        });
        let is_stuck = matches!(end, End::Stuck);
        // Whatever still holds the pipe is not waited for.
        let console = console.recv_timeout(PIPE_PATIENCE).unwrap_or_default();
        let death = self
            .death(end, cause, &builder)
            .or_else(|| watched.err().map(cannot_start))
            .or_else(|| garbage.map(protocol_failure));
        Ok(Ending {
            builder,
            death,
            console,
            elapsed: began.elapsed(),
            is_stuck,
        })
    }

    fn spawn(&self) -> io::Result<Child> {
        let mut command = Command::new(self.program);
        command
            .arg("trial")
            .env_clear()
            .env("PATH", fslab_sys::PLAIN_PATH)
            .env("LC_ALL", "C")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        command.spawn()
    }

    /// Takes lines until the process is gone; tells it to end where it must.
    fn watch(
        &self,
        child: &mut Child,
        lines: &Receiver<String>,
        mut take: impl FnMut(String),
    ) -> (End, Option<Cause>) {
        let began = Instant::now();
        let mut cause = None;
        let mut told: Option<Instant> = None;
        let mut killed: Option<Instant> = None;
        let mut listening = true;
        loop {
            if listening {
                match lines.recv_timeout(TICK) {
                    Ok(line) => take(line),
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => listening = false,
                }
            } else {
                std::thread::sleep(Duration::from_millis(1));
            }
            if let Some(status) = child.try_wait().transpose() {
                // Whatever it started and left behind would hold the device.
                let _ = fslab_sys::signal_group(child.id(), GroupSignal::Kill);
                while let Ok(line) = lines.recv_timeout(PIPE_PATIENCE) {
                    take(line);
                }
                return (End::Gone(status), cause);
            }
            let wanted = if self.control.is_stopping() {
                Some(Cause::Request)
            } else if began.elapsed() > self.limit {
                Some(Cause::Limit)
            } else {
                None
            };
            match (wanted, told) {
                (Some(why), None) => {
                    cause = Some(why);
                    told = Some(Instant::now());
                    let _ = fslab_sys::signal_group(child.id(), GroupSignal::Terminate);
                }
                (_, Some(since)) if since.elapsed() > GRACE || self.control.is_impatient() => {
                    let _ = fslab_sys::signal_group(child.id(), GroupSignal::Kill);
                    if killed.get_or_insert_with(Instant::now).elapsed() > KILL_PATIENCE {
                        return (End::Stuck, cause);
                    }
                }
                _ => {}
            }
        }
    }

    /// Why the process ended, unless it ended by itself and in order.
    fn death(&self, end: End, cause: Option<Cause>, builder: &RecordBuilder) -> Option<Failure> {
        let place = builder.place();
        let place = place.map_or_else(String::new, |step| format!(" during '{step}'"));
        let status = match end {
            End::Gone(Ok(status)) => status,
            End::Gone(Err(error)) => {
                let text = "cannot learn how the trial's process ended";
                return Some(Failure::new(FailureKind::Crash, text).because(&error));
            }
            End::Stuck => {
                let text = format!("the trial hangs in the kernel{place}, and cannot be killed");
                return Some(
                    Failure::new(FailureKind::Timeout, text).hint(
                        "the kernel's log may tell why; `fslab clean` removes the rest later",
                    ),
                );
            }
        };
        // A trial that was done before it heard of it was not ended by anybody.
        match cause.filter(|_| !(status.success() && builder.has_ended_undisturbed())) {
            Some(Cause::Limit) => {
                let limit_s = self.limit.as_secs();
                let text = format!("the trial passed its limit of {limit_s} s{place}");
                return Some(
                    Failure::new(FailureKind::Timeout, text)
                        .hint("--trial-limit sets another; a hang shows in the kernel's log"),
                );
            }
            Some(Cause::Request) => {
                let text = format!("the trial was told to stop{place}");
                return Some(Failure::new(FailureKind::Interrupted, text));
            }
            None => {}
        }
        let how = match (status.code(), status.signal()) {
            (Some(0), _) => return None,
            (Some(code), _) => format!("with status {code}"),
            (None, Some(signal)) => format!("of {}", fslab_sys::signal_name(signal)),
            (None, None) => "without a status".to_owned(),
        };
        let text = format!("the trial's process died {how}{place}");
        Some(Failure::new(FailureKind::Crash, text))
    }
}

/// Hands the specification to the process.
fn feed(child: &mut Child, spec: &TrialSpec) -> io::Result<()> {
    let text = serde_json::to_vec(spec)?;
    let Some(mut input) = child.stdin.take() else {
        return Ok(());
    };
    match input.write_all(&text) {
        // It died before it read: its exit status says more than this.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

fn read_lines(child: &mut Child) -> Receiver<String> {
    let (sender, receiver) = channel();
    if let Some(output) = child.stdout.take() {
        std::thread::spawn(move || {
            for line in BufReader::new(output).split(b'\n') {
                let Ok(line) = line else { return };
                if sender
                    .send(String::from_utf8_lossy(&line).into_owned())
                    .is_err()
                {
                    return;
                }
            }
        });
    }
    receiver
}

fn read_console(child: &mut Child) -> Receiver<String> {
    let (sender, receiver) = channel();
    if let Some(mut errors) = child.stderr.take() {
        std::thread::spawn(move || {
            let mut kept = Vec::new();
            let mut part = [0; 4096];
            while let Ok(length @ 1..) = errors.read(&mut part) {
                kept.extend_from_slice(&part[..length]);
                if kept.len() > 2 * CONSOLE_KEPT_BYTES {
                    kept.drain(..kept.len() - CONSOLE_KEPT_BYTES);
                }
            }
            let start = kept.len().saturating_sub(CONSOLE_KEPT_BYTES);
            let _ = sender.send(String::from_utf8_lossy(&kept[start..]).into_owned());
        });
    }
    receiver
}

fn protocol_failure(what: String) -> Failure {
    let mut failure = Failure::new(FailureKind::Protocol, "a line of the trial is no event");
    failure.causes.push(what);
    failure
}

fn shorten(line: &str) -> String {
    line.chars().take(80).collect()
}
