//! A trial's process: its own process group, a clean environment, a time limit, and its exit.

use std::io::{self, Write};
use std::path::Path;
use std::process::{ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use fslab_model::{Event, EventBody, Failure, FailureKind, PhaseOutcome, RecordBuilder, TrialSpec};
use fslab_sys::{ProcessGroup, ProcessIdentity, Signal};

use super::ended::{Ending, mismatch};
use crate::control::Control;
use crate::expected::{EventCheck, ExpectedRecord};
use crate::guest::{HelperWatch, Share, TrialStatus, kernel_errors};
use crate::host_memory::{HostMemory, out_of_memory};
use crate::trial_output::{Line, Lines, console_of};

/// From SIGTERM until SIGKILL for the group.
const GRACE: Duration = Duration::from_secs(15);
/// From SIGKILL until the process counts as stuck in the kernel.
const KILL_TIMEOUT: Duration = Duration::from_secs(10);
/// Timeout for the pipes of a process that has ended.
const PIPE_TIMEOUT: Duration = Duration::from_secs(2);
/// Interval at which time limit and stop requests are checked.
const TICK: Duration = Duration::from_millis(50);

/// Signals by which a process ends another one, and the limits of time and size of this user.
const SENT_FROM_OUTSIDE: [&str; 7] = [
    "SIGKILL", "SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGXCPU", "SIGXFSZ",
];

/// How a trial's process is started and limited.
pub(crate) struct Launch<'a> {
    pub(crate) spec: &'a TrialSpec,
    pub(crate) expected: &'a ExpectedRecord,
    pub(crate) transport: Transport<'a>,
    pub(crate) limit: Duration,
    pub(crate) control: &'a Control,
}

/// How specification, events and exit status are transferred.
#[derive(Clone, Copy)]
pub(crate) enum Transport<'a> {
    /// Standard input, standard output, exit status.
    Pipes,
    /// Files in the directory shared with a guest.
    Shared(&'a Share),
}

/// The command that runs a trial as a process of this system.
pub(crate) fn trial_command(program: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .arg("trial")
        .env_clear()
        .env("PATH", fslab_sys::PLAIN_PATH)
        .env("LC_ALL", "C")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    // If the conductor is killed, the trial must still unmount.
    fslab_sys::terminate_with_parent(&mut command);
    command
}

/// Why the process was signalled.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cause {
    Limit,
    Request,
    /// A helper process of the guest kernel, by its PID, has died: the guest would wait for it
    /// forever.
    Helper(u32),
    /// It has reported what its specification does not allow.
    Falsehood,
}

/// How the process ended.
enum End {
    /// It has ended.
    Gone(io::Result<ExitStatus>),
    /// It was killed but still exists.
    Stuck,
}

impl Launch<'_> {
    /// Starts the process and waits until its complete group has ended.
    pub(crate) fn run(
        &self,
        command: Command,
        started: impl FnOnce(ProcessIdentity) -> io::Result<()>,
        mut on_event: impl FnMut(&Event),
    ) -> Result<Ending, Failure> {
        let cannot_start = |error: io::Error| {
            Failure::new(FailureKind::Crash, "cannot start the trial's process").because(&error)
        };
        let began = Instant::now();
        let memory = HostMemory::now();
        let (mut group, lines, console) = self.start(command).map_err(cannot_start)?;
        let recorded = started(group.identity());
        let input = group.stdin.take().filter(|_| recorded.is_ok());
        if recorded.is_err() {
            let _ = group.signal(Signal::Kill);
        }
        let fed = feed(input, self.spec);
        let is_in_guest = matches!(self.transport, Transport::Shared(_));
        let mut report = Report::of(self.expected, is_in_guest);
        let (end, cause) = self.watch(group, &lines, |line| report.take(line, &mut on_event));
        let Report {
            builder,
            garbage,
            falsehood,
            ..
        } = report;
        let is_stuck = matches!(end, End::Stuck);
        // A process that still holds the pipe is not waited for.
        let console = console.recv_timeout(PIPE_TIMEOUT).unwrap_or_default();
        let is_false = falsehood.is_some();
        let death = match falsehood {
            Some(falsehood) if !is_stuck => Some(falsehood),
            _ => self.death(end, cause, &builder, &memory),
        };
        let death = death.map(|failure| with_kernel_errors(failure, &console));
        let fed = fed.recv_timeout(PIPE_TIMEOUT).unwrap_or(Ok(()));
        // The cause of a failed start says more than the exit that followed.
        let death = (recorded.err().map(cannot_start))
            .or(death)
            .or_else(|| fed.err().map(cannot_start))
            .or_else(|| garbage.map(protocol_failure));
        Ok(Ending {
            builder,
            death,
            console,
            elapsed: began.elapsed(),
            is_false,
            is_stuck,
        })
    }

    /// Starts the process and the threads that read its output.
    fn start(&self, mut command: Command) -> io::Result<(ProcessGroup, Lines, Receiver<String>)> {
        match self.transport {
            Transport::Pipes => {
                let mut group = ProcessGroup::spawn(command)?;
                let (output, errors) = (group.stdout.take(), group.stderr.take());
                let (output, errors) = output.zip(errors).ok_or(io::ErrorKind::BrokenPipe)?;
                let lines = Lines::of_pipe(output, self.expected.bounds());
                Ok((group, lines, console_of(errors)))
            }
            Transport::Shared(share) => {
                let events = share.open_events()?;
                let (reader, writer) = io::pipe()?;
                command.stdout(writer.try_clone()?).stderr(writer);
                let group = ProcessGroup::spawn(command)?;
                let lines = Lines::of_growing_file(events, self.expected.bounds());
                Ok((group, lines, console_of(reader)))
            }
        }
    }

    /// Reads lines until the process has ended; ends it at its limit, on request, or when `take`
    /// returns false.
    fn watch(
        &self,
        mut group: ProcessGroup,
        lines: &Lines,
        mut take: impl FnMut(Line) -> bool,
    ) -> (End, Option<Cause>) {
        let began = Instant::now();
        let mut cause = None;
        let mut signalled: Option<Instant> = None;
        let mut killed: Option<Instant> = None;
        let (mut listening, mut is_true) = (true, true);
        let mut helpers = HelperWatch::default();
        loop {
            if listening {
                match lines.next(TICK) {
                    Ok(line) => is_true &= take(line),
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => listening = false,
                }
            } else {
                std::thread::sleep(Duration::from_millis(1));
            }
            if let Transport::Shared(_) = self.transport
                && signalled.is_none()
                && let Some(helper) = helpers.dead_of(group.id())
            {
                cause = Some(Cause::Helper(helper));
                signalled = Some(began);
                let _ = group.signal(Signal::Kill);
            }
            if group.has_ended().unwrap_or(true) {
                // Kills processes of the group that are left and would keep the device busy.
                let status = group.reap().map(|(status, _)| status);
                lines.complete();
                while let Ok(line) = lines.next(PIPE_TIMEOUT) {
                    take(line);
                }
                return (End::Gone(status), cause);
            }
            let wanted = if self.control.is_stopping() {
                Some(Cause::Request)
            } else if !is_true {
                Some(Cause::Falsehood)
            } else if began.elapsed() > self.limit {
                Some(Cause::Limit)
            } else {
                None
            };
            match (wanted, signalled) {
                (Some(why), None) => {
                    cause = Some(why);
                    signalled = Some(Instant::now());
                    let _ = group.signal(Signal::Terminate);
                }
                (_, Some(since)) if since.elapsed() > GRACE || self.control.kill_requested() => {
                    let _ = group.signal(Signal::Kill);
                    if killed.get_or_insert_with(Instant::now).elapsed() > KILL_TIMEOUT {
                        group.abandon();
                        return (End::Stuck, cause);
                    }
                }
                _ => {}
            }
        }
    }

    /// The failure of the process; `None` if it ended regularly.
    fn death(
        &self,
        end: End,
        cause: Option<Cause>,
        builder: &RecordBuilder,
        memory: &HostMemory,
    ) -> Option<Failure> {
        let place = builder.place();
        let place = place.map_or_else(String::new, |step| format!(" during '{step}'"));
        let status = match end {
            End::Gone(Ok(status)) => status,
            End::Gone(Err(error)) => {
                let text = "cannot get the exit status of the trial's process";
                return Some(Failure::new(FailureKind::Crash, text).because(&error));
            }
            End::Stuck => {
                let text = format!("the trial hangs in the kernel{place}, and cannot be killed");
                return Some(
                    Failure::new(FailureKind::Timeout, text)
                        .hint("see the kernel log; remove what is left with `fslab clean`"),
                );
            }
        };
        // A trial that completed before the signal arrived is not a failure.
        match cause.filter(|_| !(status.success() && builder.has_ended_undisturbed())) {
            Some(Cause::Limit) => {
                let limit_s = self.limit.as_secs();
                let text = format!("the trial exceeded its limit of {limit_s} s{place}");
                return Some(Failure::new(FailureKind::Timeout, text).hint(
                    "raise it with --trial-limit; if the trial hangs, see the kernel's log",
                ));
            }
            Some(Cause::Request) => {
                let text = format!("the trial was stopped on request{place}");
                return Some(Failure::new(FailureKind::Interrupted, text));
            }
            Some(Cause::Helper(_)) if memory.ran_out() => {
                return Some(self.out_of_memory("a helper process of the guest kernel", &place));
            }
            Some(Cause::Helper(helper)) => {
                let text = format!("the guest kernel lost its helper process {helper}{place}");
                return Some(
                    Failure::new(FailureKind::Host, text)
                        .hint("another program killed it; the host's log may name it"),
                );
            }
            // The process ended before it could be stopped.
            Some(Cause::Falsehood) | None => {}
        }
        let of_guest = match self.transport {
            Transport::Shared(share) => share.status(),
            Transport::Pipes => None,
        };
        let (who, status) = match (of_guest, self.transport) {
            (Some(status), _) => ("the trial's process", status),
            (None, Transport::Shared(_)) => ("the guest kernel", TrialStatus::from(status)),
            (None, Transport::Pipes) => ("the trial's process", TrialStatus::from(status)),
        };
        let signal = status.signal.map(fslab_sys::signal_name);
        if of_guest.is_none() && signal.as_deref() == Some("SIGKILL") && memory.ran_out() {
            return Some(self.out_of_memory(who, &place));
        }
        let how = match (status.code, signal) {
            (Some(0), _) if who == "the guest kernel" => "before its trial ended".to_owned(),
            (Some(0), _) => return None,
            (Some(code), _) => format!("with status {code}"),
            (None, Some(signal)) => format!("of {signal}"),
            (None, None) => "without a status".to_owned(),
        };
        // In a guest its own kernel sends signals, too.
        let is_outside = of_guest.is_none() && is_sent_from_outside(status.signal);
        Some(died(format!("{who} died {how}{place}"), is_outside))
    }

    fn out_of_memory(&self, victim: &str, place: &str) -> Failure {
        let images = match self.transport {
            Transport::Shared(share) => share.folder().parent(),
            Transport::Pipes => None,
        };
        out_of_memory(victim, place, images)
    }
}

/// The failure of a process that died, by itself or by another program.
fn died(text: String, is_outside: bool) -> Failure {
    match is_outside {
        true => Failure::new(FailureKind::Host, text)
            .hint("another program killed it; the host's log may name it"),
        false => Failure::new(FailureKind::Crash, text),
    }
}

/// True for signals by which a process ends another one, and no process itself.
fn is_sent_from_outside(signal: Option<i32>) -> bool {
    let name = signal.map(fslab_sys::signal_name);
    name.is_some_and(|name| SENT_FROM_OUTSIDE.contains(&name.as_str()))
}

/// A failure that a process in a guest reports, which knows nothing of the host.
fn within_guest(event: &mut Event) {
    let failure = match &mut event.body {
        EventBody::Failed { failure } | EventBody::Withdrawn { failure, .. } => failure,
        EventBody::Phase(phase) => match &mut phase.outcome {
            PhaseOutcome::Failed { failure } => failure,
            _ => return,
        },
        _ => return,
    };
    if failure.kind == FailureKind::Host {
        failure.kind = FailureKind::Device;
    }
}

/// What a trial has reported.
struct Report<'a> {
    is_in_guest: bool,
    builder: RecordBuilder,
    check: EventCheck<'a>,
    /// The first line that is no event.
    garbage: Option<String>,
    /// The first report that the specification does not allow.
    falsehood: Option<Failure>,
}

impl<'a> Report<'a> {
    fn of(expected: &'a ExpectedRecord, is_in_guest: bool) -> Self {
        Self {
            is_in_guest,
            builder: RecordBuilder::default(),
            check: EventCheck::of(expected),
            garbage: None,
            falsehood: None,
        }
    }

    /// Takes the next line; false if no further one counts.
    fn take(&mut self, line: Line, on_event: &mut impl FnMut(&Event)) -> bool {
        if self.falsehood.is_some() {
            return false;
        }
        let admitted = match line.map(|line| (serde_json::from_str::<Event>(&line), line)) {
            Ok((Ok(mut event), _)) => self.check.admit(&event).map(|()| {
                if self.is_in_guest {
                    within_guest(&mut event);
                }
                on_event(&event);
                self.builder.push(event);
            }),
            Ok((Err(error), line)) => {
                let text = || format!("{error} in '{}'", shorten(&line));
                self.garbage.get_or_insert_with(text);
                Ok(())
            }
            Err(excess) => Err(excess),
        };
        self.falsehood = admitted.err().map(|why| mismatch(&why));
        self.falsehood.is_none()
    }
}

/// Adds the last errors of the guest kernel to the causes of `failure`.
fn with_kernel_errors(mut failure: Failure, console: &str) -> Failure {
    let errors = kernel_errors(console).into_iter();
    failure
        .causes
        .extend(errors.map(|line| format!("the kernel says: {line}")));
    failure
}

/// Writes the specification to the process in a thread, since the process may never read it; the
/// result is received from the thread.
fn feed(input: Option<ChildStdin>, spec: &TrialSpec) -> Receiver<io::Result<()>> {
    let (sender, fed) = channel();
    let text = serde_json::to_vec(spec);
    let Some(mut input) = input else {
        return fed;
    };
    std::thread::spawn(move || {
        let written = text.map_err(io::Error::from).and_then(|text| {
            match input.write_all(&text) {
                // The process died before it read; its exit status says more.
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
                other => other,
            }
        });
        // The process gets end-of-file before the result is sent.
        drop(input);
        let _ = sender.send(written);
    });
    fed
}

fn protocol_failure(what: String) -> Failure {
    let mut failure = Failure::new(
        FailureKind::Protocol,
        "the trial wrote a line that is not an event",
    );
    failure.causes.push(what);
    failure
}

fn shorten(line: &str) -> String {
    line.chars().take(80).collect()
}
