//! Programs that work while a file system is mounted: those that serve it, and those beside it.
//!
//! Invariant: a server that is dropped has ended, and one whose trial is killed is killed by the
//! kernel. It leads a process group of its own: who asks the trial's group to stop must not end
//! what the trial still has to unmount. A companion goes into the background by itself, and only
//! the trial knows its number.

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::process::{Child, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use fslab_fs::{CommandLine, CompanionCommand};
use fslab_model::{Failure, FailureKind};

use crate::command;

/// How often it is asked whether something has happened: short beside any mount.
pub(crate) const POLL: Duration = Duration::from_millis(1);
/// How long a companion may take to end.
const COMPANION_PATIENCE: Duration = Duration::from_secs(10);

/// A program that serves a file system in the foreground.
pub(crate) struct Server {
    program: &'static str,
    child: Child,
    /// Reads what it complains of, so that it never waits for a reader.
    listener: Option<JoinHandle<String>>,
}

impl Server {
    pub(crate) fn start(line: &CommandLine) -> Result<Self, Failure> {
        let mut command = command::plain(line)?;
        fslab_sys::end_with_parent(&mut command);
        let mut child = command
            .process_group(0)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| command::cannot_start(line, &error))?;
        let listener = child.stderr.take().map(|mut stream| {
            thread::spawn(move || {
                let mut said = Vec::new();
                // What was read up to an error is as good as it gets.
                let _ = stream.read_to_end(&mut said);
                String::from_utf8_lossy(&said).into_owned()
            })
        });
        Ok(Self {
            program: line.tool.program,
            child,
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
            if let Ok(Some(status)) = self.child.try_wait() {
                let words = self.words();
                let text = format!("{} ended with {status}: {words}", self.program);
                return Err(Failure::new(kind, text));
            }
            if is_ready()? {
                return Ok(());
            }
            thread::sleep(POLL);
        }
    }

    /// Waits for it to end by itself, as it does when it has nothing more to serve.
    pub(crate) fn wait_end(&mut self) -> Result<(), Failure> {
        let failed = |text| Failure::new(FailureKind::Unmount, text);
        let status = self.child.wait().map_err(|error| {
            failed(format!("cannot wait for the end of {}", self.program)).because(&error)
        })?;
        if status.success() {
            return Ok(());
        }
        let words = self.words();
        Err(failed(format!(
            "{} ended with {status}: {words}",
            self.program
        )))
    }

    /// What it complained of; known only when it has ended.
    fn words(&mut self) -> String {
        let said = self.listener.take().and_then(|it| it.join().ok());
        command::last_lines(&said.unwrap_or_default())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // One that has ended already takes neither.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A program that works beside a mounted file system, in the background.
pub(crate) struct Companion {
    process: u32,
}

impl Companion {
    pub(crate) fn start(command: &CompanionCommand) -> Result<Self, Failure> {
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
            .ok_or_else(failed)?;
        Ok(Self { process })
    }

    /// Ends it; a file system is busy until then. `false`: it had ended before, by itself.
    pub(crate) fn stop(&self) -> Result<bool, Failure> {
        if fslab_sys::process_start_ticks(self.process).is_none() {
            return Ok(false);
        }
        let text = format!(
            "cannot end the program beside the mount, process {}",
            self.process
        );
        let failed = || Failure::new(FailureKind::Unmount, text.clone());
        let began = Instant::now();
        fslab_sys::terminate_process(self.process).map_err(|error| failed().because(&error))?;
        while fslab_sys::process_start_ticks(self.process).is_some() {
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
        let process = server.child.id();
        assert!(fslab_sys::process_start_ticks(process).is_some());
        drop(server);
        assert_eq!(fslab_sys::process_start_ticks(process), None);
    }

    #[test]
    fn a_companion_is_found_by_the_number_that_it_prints_and_ended_by_it() {
        let script = "setsid sleep 600 >/dev/null 2>&1 & echo PID=$!; sleep 0.2";
        let command = |prefix| CompanionCommand {
            line: shell(script),
            pid_prefix: prefix,
        };
        let companion = Companion::start(&command("PID=")).expect("starts");
        assert!(fslab_sys::process_start_ticks(companion.process).is_some());
        assert!(companion.stop().expect("ends"));
        assert!(!companion.stop().expect("is gone"), "it had ended before");
        assert_eq!(fslab_sys::process_start_ticks(companion.process), None);
        let silent = CompanionCommand {
            line: shell("echo who am I"),
            pid_prefix: "PID=",
        };
        assert!(Companion::start(&silent).is_err());
    }
}
