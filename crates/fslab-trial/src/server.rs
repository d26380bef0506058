//! Programs that run while a file system is mounted: FUSE servers, and helpers such as cleaners.
//!
//! Invariant: dropping a server ends it, and the kernel kills it if its trial is killed. A server
//! leads a separate process group: a signal to the trial's group must not end it before the trial
//! has unmounted. A companion daemonizes, and only the trial knows its PID.

use std::io::Read;
use std::process::{ExitStatus, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use fslab_fs::{CommandLine, CompanionCommand};
use fslab_model::{Failure, FailureKind};
use fslab_sys::{ProcessGroup, ProcessIdentity, Signal};

use crate::command;

/// Poll interval, short compared with any mount.
pub(crate) const POLL: Duration = Duration::from_millis(1);
/// Time for a companion to end. nilfs_cleanerd ends between two rounds of cleaning, and a round
/// takes more than 10 s on a slow stick.
const COMPANION_TIMEOUT: Duration = Duration::from_secs(300);

/// A FUSE server in the foreground.
pub(crate) struct Server {
    program: &'static str,
    group: ProcessGroup,
    /// Reads its standard error, so that it never blocks on the pipe.
    listener: Option<JoinHandle<String>>,
}

impl Server {
    pub(crate) fn start(line: &CommandLine) -> Result<Self, Failure> {
        let mut command = command::plain(line)?;
        fslab_sys::kill_with_parent(&mut command);
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        let mut group =
            ProcessGroup::spawn(command).map_err(|error| command::cannot_start(line, &error))?;
        let listener = group.stderr.take().map(|mut stream| {
            thread::spawn(move || {
                let mut errors = Vec::new();
                // After a read error the part read so far is used.
                let _ = stream.read_to_end(&mut errors);
                String::from_utf8_lossy(&errors).into_owned()
            })
        });
        Ok(Self {
            program: line.tool.program,
            group,
            listener,
        })
    }

    /// Waits until `is_ready` returns true; fails with the server's messages if it ends first.
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

    /// Waits for its regular end after the unmount.
    pub(crate) fn wait_end(&mut self) -> Result<(), Failure> {
        let kind = FailureKind::Unmount;
        self.group.wait().map_err(|error| self.lost(kind, &error))?;
        match self.reap(kind)? {
            (status, _) if status.success() => Ok(()),
            (_, text) => Err(Failure::new(kind, text)),
        }
    }

    /// Ends one that would not end by itself, whatever its status then.
    pub(crate) fn terminate(&mut self) -> Result<(), Failure> {
        let kind = FailureKind::Unmount;
        let signalled = self.group.signal(Signal::Terminate);
        signalled
            .and_then(|()| self.group.wait())
            .map_err(|error| self.lost(kind, &error))?;
        self.reap(kind).map(drop)
    }

    /// Its exit status, and a sentence with the end of its standard error.
    fn reap(&mut self, kind: FailureKind) -> Result<(ExitStatus, String), Failure> {
        let reaped = self.group.reap();
        let (status, _) = reaped.map_err(|error| self.lost(kind, &error))?;
        let errors = self.listener.take().and_then(|it| it.join().ok());
        let lines = command::last_lines(&errors.unwrap_or_default());
        Ok((
            status,
            format!("{} ended with {status}: {lines}", self.program),
        ))
    }

    fn lost(&self, kind: FailureKind, error: &std::io::Error) -> Failure {
        let text = format!("cannot wait for the end of {}", self.program);
        Failure::new(kind, text).because(error)
    }
}

/// A daemon that belongs to a mounted file system.
pub(crate) struct Companion {
    process: ProcessIdentity,
}

impl Companion {
    pub(crate) fn start(command: &CompanionCommand) -> Result<Self, Failure> {
        let began_ticks = fslab_sys::boot_ticks();
        let ran = command::run("companion", &command.line)?;
        let failed = || {
            let lines = command::last_lines(&ran.output);
            let text = format!("`{}` did not start: {lines}", ran.record.command.join(" "));
            Failure::new(FailureKind::Mount, text)
        };
        let number = ran
            .output
            .lines()
            .find_map(|line| line.strip_prefix(command.pid_prefix));
        let process = number
            .and_then(|number| number.trim().parse().ok())
            .map(ProcessIdentity::of)
            // A process that existed before is not the one that the command started.
            .filter(|process| !process.is_alive() || process.started_since(began_ticks))
            .ok_or_else(failed)?;
        Ok(Self { process })
    }

    /// Ends the companion, which keeps the file system busy; false if it had ended before.
    pub(crate) fn stop(&self) -> Result<bool, Failure> {
        let text = format!("cannot end the companion process {}", self.process.pid);
        let failed = || Failure::new(FailureKind::Unmount, text.clone());
        let began = Instant::now();
        let signalled = self.process.signal(Signal::Terminate);
        if !signalled.map_err(|error| failed().because(&error))? {
            return Ok(false);
        }
        while self.process.is_alive() {
            if began.elapsed() > COMPANION_TIMEOUT {
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
    fn a_server_that_ends_too_early_is_a_failure_with_its_messages() {
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
    fn a_companion_is_ended_by_the_pid_that_it_prints() {
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

    /// Any process with the printed PID had been ended.
    #[test]
    fn a_process_older_than_the_companion_is_not_ended() {
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
