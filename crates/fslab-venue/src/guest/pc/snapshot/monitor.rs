//! The emulator's monitor: QMP, lines of JSON. QEMU, docs/interop/qmp-spec.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::time::{Duration, Instant};

use fslab_sys::os::UnixStream;
use serde_json::{Value, json};

/// How often the monitor asks whether to go on.
const STEP: Duration = Duration::from_millis(100);
/// The longest line of an emulator.
const LINE_MAX: usize = 1 << 20;

/// The monitor of an emulator that is waited for until a deadline.
pub(super) struct Monitor<'a> {
    reader: BufReader<UnixStream>,
    /// The part of a line that was read.
    line: Vec<u8>,
    deadline: Instant,
    go_on: &'a dyn Fn() -> bool,
}

impl<'a> Monitor<'a> {
    /// The monitor at the other end of `stream`, ready for commands.
    pub(super) fn open(
        stream: UnixStream,
        limit: Duration,
        go_on: &'a dyn Fn() -> bool,
    ) -> io::Result<Self> {
        stream.set_read_timeout(Some(STEP))?;
        let mut monitor = Self {
            reader: BufReader::new(stream),
            line: Vec::new(),
            deadline: Instant::now() + limit,
            go_on,
        };
        monitor.read()?;
        monitor.execute("qmp_capabilities", &json!({}))?;
        Ok(monitor)
    }

    /// Waits until the guest has stopped the machine, which it may have done before the monitor was
    /// ready to report it.
    pub(super) fn wait_until_stopped(&mut self) -> io::Result<()> {
        let status = self.execute("query-status", &json!({}))?;
        if status["running"] == true {
            while self.read()?["event"] != "STOP" {}
        }
        Ok(())
    }

    /// Executes a command, and returns its answer.
    pub(super) fn execute(&mut self, command: &str, arguments: &Value) -> io::Result<Value> {
        let text = json!({ "execute": command, "arguments": arguments });
        writeln!(self.reader.get_mut(), "{text}").map_err(ended)?;
        loop {
            let mut answer = self.read()?;
            if let Some(returned) = answer.get_mut("return") {
                return Ok(returned.take());
            }
            if let Some(error) = answer.get("error") {
                let text = error["desc"].as_str().unwrap_or("no reason");
                return Err(io::Error::other(format!("{command}: {text}")));
            }
        }
    }

    fn read(&mut self) -> io::Result<Value> {
        loop {
            if Instant::now() >= self.deadline {
                return Err(io::ErrorKind::TimedOut.into());
            }
            if !(self.go_on)() {
                return Err(io::ErrorKind::Interrupted.into());
            }
            let left = LINE_MAX.saturating_sub(self.line.len()) as u64;
            let mut part = self.reader.by_ref().take(left);
            match part.read_until(b'\n', &mut self.line).map_err(ended) {
                Err(error) if is_timeout(&error) => {}
                Err(error) => return Err(error),
                Ok(_) if self.line.ends_with(b"\n") => {
                    let line = std::mem::take(&mut self.line);
                    return serde_json::from_slice(&line).map_err(io::Error::from);
                }
                Ok(_) => return Err(io::ErrorKind::UnexpectedEof.into()),
            }
        }
    }
}

/// True for the end of a step.
fn is_timeout(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock
    )
}

/// The end of an emulator that has not read all commands, as that of one that has.
fn ended(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe => {
            io::ErrorKind::UnexpectedEof.into()
        }
        _ => error,
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_secs(60);
    const READY: &str = "{\"QMP\": {}}\n{\"return\": {}}\n";

    /// A monitor whose emulator says `lines`, and the other end.
    fn saying(lines: &str, limit: Duration) -> (io::Result<Monitor<'static>>, UnixStream) {
        let (here, mut there) = UnixStream::pair().expect("made");
        there.write_all(lines.as_bytes()).expect("written");
        (Monitor::open(here, limit, &|| true), there)
    }

    #[test]
    fn events_before_an_answer_are_passed_over_and_an_error_is_quoted() {
        let lines = "{\"event\": \"RESUME\"}\n{\"return\": {\"running\": true}}\n\
                     {\"event\": \"STOP\"}\n{\"event\": \"RESET\"}\n\
                     {\"error\": {\"desc\": \"no such command\"}}\n";
        let (monitor, there) = saying(&format!("{READY}{lines}"), LIMIT);
        let mut monitor = monitor.expect("opened");
        monitor.wait_until_stopped().expect("it stopped");
        let refused = monitor.execute("save", &json!({})).expect_err("refused");
        assert_eq!(refused.to_string(), "save: no such command");
        drop(there);
        let ended = monitor.wait_until_stopped().expect_err("no more");
        assert_eq!(ended.kind(), io::ErrorKind::UnexpectedEof);
    }

    #[test]
    fn a_machine_that_stopped_before_the_monitor_was_ready_is_not_waited_for() {
        let lines = format!("{READY}{{\"return\": {{\"running\": false}}}}\n");
        let (monitor, _there) = saying(&lines, LIMIT);
        let stopped = monitor.expect("opened").wait_until_stopped();
        stopped.expect("it had stopped");
    }

    #[test]
    fn what_says_nothing_is_given_up() {
        let (monitor, _there) = saying("{\"QMP\": {}}\n", Duration::from_millis(20));
        let error = monitor.err().expect("no answer");
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        let (here, _there) = UnixStream::pair().expect("made");
        let stopped = Monitor::open(here, LIMIT, &|| false);
        let error = stopped.err().expect("asked to stop");
        assert_eq!(error.kind(), io::ErrorKind::Interrupted);
    }
}
