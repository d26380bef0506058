//! The emulator's monitor: QMP, lines of JSON. QEMU, docs/interop/qmp-spec.

use std::io::{self, BufRead, BufReader, Write};
use std::time::{Duration, Instant};

use fslab_sys::os::UnixStream;
use serde_json::{Value, json};

/// The monitor of an emulator that is waited for until a deadline.
pub(super) struct Monitor {
    reader: BufReader<UnixStream>,
    deadline: Instant,
}

impl Monitor {
    /// The monitor at the other end of `stream`, ready for commands.
    pub(super) fn open(stream: UnixStream, limit: Duration) -> io::Result<Self> {
        let mut monitor = Self {
            reader: BufReader::new(stream),
            deadline: Instant::now() + limit,
        };
        monitor.read()?;
        monitor.execute("qmp_capabilities", &json!({}))?;
        Ok(monitor)
    }

    /// Waits for an event.
    pub(super) fn wait_for(&mut self, event: &str) -> io::Result<()> {
        while self.read()?["event"] != *event {}
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
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.reader.get_ref().set_read_timeout(Some(left))?;
        let mut line = String::new();
        if self.reader.read_line(&mut line).map_err(ended)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        serde_json::from_str(&line).map_err(io::Error::from)
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_secs(60);

    /// A monitor whose emulator says `lines`, and the other end.
    fn saying(lines: &str, limit: Duration) -> (io::Result<Monitor>, UnixStream) {
        let (here, mut there) = UnixStream::pair().expect("made");
        there.write_all(lines.as_bytes()).expect("written");
        (Monitor::open(here, limit), there)
    }

    #[test]
    fn events_before_an_answer_are_passed_over_and_an_error_is_quoted() {
        let lines = "{\"QMP\": {}}\n{\"return\": {}}\n{\"event\": \"RESUME\"}\n\
                     {\"event\": \"STOP\"}\n{\"event\": \"RESET\"}\n\
                     {\"error\": {\"desc\": \"no such command\"}}\n";
        let (monitor, there) = saying(lines, LIMIT);
        let mut monitor = monitor.expect("opened");
        monitor.wait_for("STOP").expect("it came");
        let refused = monitor.execute("save", &json!({})).expect_err("refused");
        assert_eq!(refused.to_string(), "save: no such command");
        drop(there);
        let ended = monitor.wait_for("STOP").expect_err("no more");
        assert_eq!(ended.kind(), io::ErrorKind::UnexpectedEof);
    }

    #[test]
    fn what_says_nothing_is_given_up() {
        let (monitor, _there) = saying("{\"QMP\": {}}\n", Duration::from_millis(20));
        let error = monitor.err().expect("no answer");
        let kinds = [io::ErrorKind::TimedOut, io::ErrorKind::WouldBlock];
        assert!(kinds.contains(&error.kind()), "{error}");
    }
}
