//! Programs that work while a file system is mounted: those that serve it, and those beside it.
//!
//! Invariant: a server that is dropped has ended, and one whose trial is killed is killed by the
//! kernel. It leads its own process group: who asks the trial's group to stop must not end
//! what the trial still has to unmount. A companion goes into the background by itself, and only
//! the trial knows its number.

use std::io::Read;
use std::process::{ExitStatus, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use fslab_fs::{CommandLine, CompanionCommand};
use fslab_model::{Failure, FailureKind};
use fslab_sys::{ProcessGroup, ProcessIdentity, Signal};

use crate::command;

/// How often it is asked whether something has happened: short beside any mount.
pub(crate) const POLL: Duration = Duration::from_millis(1);
/// How long a companion may take to end.
const COMPANION_PATIENCE: Duration = Duration::from_secs(10);

/// A program that serves a file system in the foreground.
pub(crate) struct Server {
    program: &'static str,
    group: ProcessGroup,
    /// Reads what it complains of, so that it never waits for a reader.
    listener: Option<JoinHandle<String>>,
}

impl Server {
    pub(crate) fn start(line: &CommandLine) -> Result<Self, Failure> {
        let mut command = command::plain(line)?;
        fslab_sys::end_with_parent(&mut command);
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        let mut group =
            ProcessGroup::spawn(command).map_err(|error| command::cannot_start(line, &error))?;
        let listener = group.stderr.take().map(|mut stream| {
            thread::spawn(move || {
                let mut said = Vec::new();
                // What was read up to an error is as good as it gets.
                let _ = stream.read_to_end(&mut said);
                String::from_utf8_lossy(&said).into_owned()
            })
        });
        Ok(Self {
            program: line.tool.program,
            group,
            listener,
        })
    }

    /// Waits until `is_ready`, which is asked again and again, or fails with the server's words
    /// where it ends before that.
    pub(crate) fn wait_until(
        &mut self,
        kind: FailureKind,
        mut is_ready: impl FnMut() -> Result<bool, Failure>,
    ) -> Result<(), Failure> {
        loop {
            if self.group.has_ended().unwrap_or(true) {
                return Err(Failure::new(kind, self.reap(kind)?.1));
            }
            if is_ready()? {
                return Ok(());
            }
            thread::sleep(POLL);
        }
    }

    /// Waits for it to end by itself, as it does when it has nothing more to serve.
    pub(crate) fn wait_end(&mut self) -> Result<(), Failure> {
        let kind = FailureKind::Unmount;
        self.group.wait().map_err(|error| self.lost(kind, &error))?;
        match self.reap(kind)? {
            (status, _) if status.success() => Ok(()),
            (_, text) => Err(Failure::new(kind, text)),
        }
    }

    /// How it ended, and a sentence with the end of what it wrote to standard error.
    fn reap(&mut self, kind: FailureKind) -> Result<(ExitStatus, String), Failure> {
        let reaped = self.group.reap();
        let (status, _) = reaped.map_err(|error| self.lost(kind, &error))?;
        let said = self.listener.take().and_then(|it| it.join().ok());
        let words = command::last_lines(&said.unwrap_or_default());
        Ok((
            status,
            format!("{} ended with {status}: {words}", self.program),
        ))
    }

    fn lost(&self, kind: FailureKind, error: &std::io::Error) -> Failure {
        let text = format!("cannot wait for the end of {}", self.program);
        Failure::new(kind, text).because(error)
    }
}

/// A program that works beside a mounted file system, in the background.
pub(crate) struct Companion {
    process: ProcessIdentity,
}

impl Companion {
    pub(crate) fn start(command: &CompanionCommand) -> Result<Self, Failure> {
        let began_ticks = fslab_sys::boot_ticks();
        let ran = command::run("companion", &command.line)?;
        let failed = || {
            let words = command::last_lines(&ran.output);
            let text = format!("`{}` did not start: {words}", ran.record.command.join(" "));
            Failure::new(FailureKind::Mount, text)
        };
        let number = ran
            .output
            .lines()
            .find_map(|line| line.strip_prefix(command.pid_prefix));
        let process = number
            .and_then(|number| number.trim().parse().ok())
            .map(ProcessIdentity::of)
            // A process that was there before is not the one that the command started.
            .filter(|process| !process.is_alive() || process.started_since(began_ticks))
            .ok_or_else(failed)?;
        Ok(Self { process })
    }

    /// Ends it; a file system is busy until then. `false`: it had ended before, by itself.
    pub(crate) fn stop(&self) -> Result<bool, Failure> {
        let text = format!("cannot end the companion process {}", self.process.pid);
        let failed = || Failure::new(FailureKind::Unmount, text.clone());
        let began = Instant::now();
        let signalled = self.process.signal(Signal::Terminate);
        if !signalled.map_err(|error| failed().because(&error))? {
            return Ok(false);
        }
        while self.process.is_alive() {
            if began.elapsed() > COMPANION_PATIENCE {
                return Err(failed());
            }
            thread::sleep(POLL);
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use fslab_fs::{OutputStream, Tool, VersionSource};

    use super::*;

    fn shell(script: &str) -> CommandLine {
        CommandLine {
            tool: Tool {
                program: "sh",
                package: "dash",
                version: VersionSource::Asked {
                    argument: "-V",
                    stream: OutputStream::Output,
                },
            },
            arguments: vec!["-c".into(), script.into()],
        }
    }

    #[test]
    fn a_server_that_ends_too_early_is_a_failure_with_its_words() {
        let mut server = Server::start(&shell("echo no such disk >&2; exit 3")).expect("starts");
        let failure = server
            .wait_until(FailureKind::Mount, || Ok(false))
            .expect_err("it ends");
        assert!(failure.message.ends_with("no such disk"), "{failure:?}");
        assert!(failure.message.contains('3'), "{failure:?}");
    }

    #[test]
    fn a_server_is_waited_for_and_one_that_is_dropped_has_ended() {
        let mut server = Server::start(&shell("sleep 0.05")).expect("starts");
        server.wait_end().expect("ends well");
        let server = Server::start(&shell("exec sleep 600")).expect("starts");
        let process = server.group.identity();
        assert!(process.is_alive());
        drop(server);
        assert!(!process.is_alive());
    }

    #[test]
    fn a_companion_is_found_by_the_number_that_it_prints_and_ended_by_it() {
        let script = "setsid sleep 600 >/dev/null 2>&1 & echo PID=$!; sleep 0.2";
        let command = |prefix| CompanionCommand {
            line: shell(script),
            pid_prefix: prefix,
        };
        let companion = Companion::start(&command("PID=")).expect("starts");
        assert!(companion.process.is_alive());
        assert!(companion.stop().expect("ends"));
        assert!(!companion.stop().expect("is gone"), "it had ended before");
        assert!(!companion.process.is_alive());
        let silent = CompanionCommand {
            line: shell("echo who am I"),
            pid_prefix: "PID=",
        };
        assert!(Companion::start(&silent).is_err());
    }

    /// Whatever process had the number that was printed was ended.
    #[test]
    fn a_process_that_was_there_before_its_companion_is_not_ended() {
        let mut other = std::process::Command::new("sleep");
        let mut other = other.arg("600").spawn().expect("starts");
        let begin = fslab_sys::boot_ticks();
        while fslab_sys::boot_ticks() < begin + 2 {
            thread::sleep(POLL);
        }
        let named = CompanionCommand {
            line: shell(&format!("echo PID={}", other.id())),
            pid_prefix: "PID=",
        };
        let companion = Companion::start(&named);
        assert!(companion.and_then(|it| it.stop()).is_err());
        assert!(other.try_wait().expect("asked").is_none(), "it was ended");
        other.kill().expect("ours");
        other.wait().expect("reaped");
    }
}
