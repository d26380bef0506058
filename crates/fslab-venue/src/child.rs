//! The process of one trial: its own group, a clean environment, a time limit, an end.

use std::io::{self, Write};
use std::path::Path;
use std::process::{ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use fslab_model::{Event, Failure, FailureKind, RecordBuilder, TrialSpec};
use fslab_sys::{ProcessGroup, ProcessIdentity, Signal};

use crate::control::Control;
use crate::guest::{HelperWatch, Share, TrialStatus, last_words};
use crate::listening::{Lines, console_of};

/// From the request to end until the group is killed.
const GRACE: Duration = Duration::from_secs(15);
/// From the kill until the process is given up: the kernel does not let it go.
const KILL_PATIENCE: Duration = Duration::from_secs(10);
/// How long the pipes of a process that is gone are read.
const PIPE_PATIENCE: Duration = Duration::from_secs(2);
/// How often limit and control are looked at.
const TICK: Duration = Duration::from_millis(50);

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
    pub(crate) spec: &'a TrialSpec,
    pub(crate) transport: Transport<'a>,
    pub(crate) limit: Duration,
    pub(crate) control: &'a Control,
}

/// How specification, events and status are passed.
#[derive(Clone, Copy)]
pub(crate) enum Transport<'a> {
    /// Standard input, standard output, exit status.
    Pipes,
    /// Files in the folder that a guest shares with us.
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
    // A trial whose conductor is killed must unmount.
    fslab_sys::terminate_with_parent(&mut command);
    command
}

/// Why the process was asked to end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cause {
    Limit,
    Request,
    /// A helper of the guest kernel, by its number, has died: the guest would wait for it for ever.
    Helper(u32),
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
        command: Command,
        started: impl FnOnce(ProcessIdentity) -> io::Result<()>,
        mut on_event: impl FnMut(&Event),
    ) -> Result<Ending, Failure> {
        let cannot_start = |error: io::Error| {
            Failure::new(FailureKind::Crash, "cannot start the trial's process").because(&error)
        };
        let began = Instant::now();
        let (mut group, lines, console) = self.start(command).map_err(cannot_start)?;
        let noted = started(group.identity());
        let input = group.stdin.take().filter(|_| noted.is_ok());
        if noted.is_err() {
            let _ = group.signal(Signal::Kill);
        }
        let fed = feed(input, self.spec);
        let mut builder = RecordBuilder::default();
        let mut garbage = None;
        let (end, cause) = self.watch(group, &lines, |line| {
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
            .map(|failure| with_words(failure, &console));
        let fed = fed.recv_timeout(PIPE_PATIENCE).unwrap_or(Ok(()));
        // What kept it from beginning says more than how it ended then.
        let death = (noted.err().map(cannot_start))
            .or(death)
            .or_else(|| fed.err().map(cannot_start))
            .or_else(|| garbage.map(protocol_failure));
        Ok(Ending {
            builder,
            death,
            console,
            elapsed: began.elapsed(),
            is_stuck,
        })
    }

    /// Starts the process and listens to it.
    fn start(&self, mut command: Command) -> io::Result<(ProcessGroup, Lines, Receiver<String>)> {
        match self.transport {
            Transport::Pipes => {
                let mut group = ProcessGroup::spawn(command)?;
                let (output, errors) = (group.stdout.take(), group.stderr.take());
                let (output, errors) = output.zip(errors).ok_or(io::ErrorKind::BrokenPipe)?;
                Ok((group, Lines::of_pipe(output), console_of(errors)))
            }
            Transport::Shared(share) => {
                let exchange = share.exchange();
                std::fs::write(exchange.spec(), serde_json::to_vec(self.spec)?)?;
                // Before the guest runs: later, another file could have its name.
                let events = fslab_sys::open_regular(&exchange.events())?;
                let (reader, writer) = io::pipe()?;
                command.stdout(writer.try_clone()?).stderr(writer);
                let group = ProcessGroup::spawn(command)?;
                let lines = Lines::of_growing_file(events);
                Ok((group, lines, console_of(reader)))
            }
        }
    }

    /// Takes lines until the process has ended; ends it at its limit or on request.
    fn watch(
        &self,
        mut group: ProcessGroup,
        lines: &Lines,
        mut take: impl FnMut(String),
    ) -> (End, Option<Cause>) {
        let began = Instant::now();
        let mut cause = None;
        let mut told: Option<Instant> = None;
        let mut killed: Option<Instant> = None;
        let mut listening = true;
        let mut helpers = HelperWatch::default();
        loop {
            if listening {
                match lines.next(TICK) {
                    Ok(line) => take(line),
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => listening = false,
                }
            } else {
                std::thread::sleep(Duration::from_millis(1));
            }
            if let Transport::Shared(_) = self.transport
                && told.is_none()
                && let Some(helper) = helpers.dead_of(group.id())
            {
                cause = Some(Cause::Helper(helper));
                told = Some(began);
                let _ = group.signal(Signal::Kill);
            }
            if group.has_ended().unwrap_or(true) {
                // This kills what it started and left behind, which would hold the device.
                let status = group.reap().map(|(status, _)| status);
                lines.complete();
                while let Ok(line) = lines.next(PIPE_PATIENCE) {
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
                    let _ = group.signal(Signal::Terminate);
                }
                (_, Some(since)) if since.elapsed() > GRACE || self.control.kill_requested() => {
                    let _ = group.signal(Signal::Kill);
                    if killed.get_or_insert_with(Instant::now).elapsed() > KILL_PATIENCE {
                        group.abandon();
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
                    Failure::new(FailureKind::Timeout, text)
                        .hint("see the kernel log; `fslab clean` removes what is left"),
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
                let text = format!("the trial was stopped on request{place}");
                return Some(Failure::new(FailureKind::Interrupted, text));
            }
            Some(Cause::Helper(helper)) => {
                let text = format!("the guest kernel lost its helper process {helper}{place}");
                return Some(Failure::new(FailureKind::Crash, text).hint(
                    "another program killed it, or the host ran out of memory; its log may say so",
                ));
            }
            None => {}
        }
        let (who, status) = match self.transport {
            Transport::Shared(share) => match share.exchange().status() {
                Some(status) => ("the trial's process", status),
                None => ("the guest kernel", TrialStatus::from(status)),
            },
            Transport::Pipes => ("the trial's process", TrialStatus::from(status)),
        };
        let how = match (status.code, status.signal) {
            (Some(0), _) if who == "the guest kernel" => "before its trial ended".to_owned(),
            (Some(0), _) => return None,
            (Some(code), _) => format!("with status {code}"),
            (None, Some(signal)) => format!("of {}", fslab_sys::signal_name(signal)),
            (None, None) => "without a status".to_owned(),
        };
        let text = format!("{who} died {how}{place}");
        Some(Failure::new(FailureKind::Crash, text))
    }
}

/// `failure` with the last messages of the guest kernel as causes.
fn with_words(mut failure: Failure, console: &str) -> Failure {
    let words = last_words(console).into_iter();
    failure
        .causes
        .extend(words.map(|line| format!("the kernel says: {line}")));
    failure
}

/// Hands the specification to the process, which may never read it: by a thread, whose end is in
/// the answer.
fn feed(input: Option<ChildStdin>, spec: &TrialSpec) -> Receiver<io::Result<()>> {
    let (sender, fed) = channel();
    let text = serde_json::to_vec(spec);
    let Some(mut input) = input else {
        return fed;
    };
    std::thread::spawn(move || {
        let written = text.map_err(io::Error::from).and_then(|text| {
            match input.write_all(&text) {
                // It died before it read: its exit status says more than this.
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
                other => other,
            }
        });
        // Its end of input comes before the answer that it was fed.
        drop(input);
        let _ = sender.send(written);
    });
    fed
}

fn protocol_failure(what: String) -> Failure {
    let mut failure = Failure::new(FailureKind::Protocol, "a line of the trial is no event");
    failure.causes.push(what);
    failure
}

fn shorten(line: &str) -> String {
    line.chars().take(80).collect()
}
