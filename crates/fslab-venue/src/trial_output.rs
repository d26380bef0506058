//! Reads a trial's output: events line by line, and the end of the console.

use std::io::{BufRead, BufReader, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, channel, sync_channel};
use std::time::Duration;

use crate::expected::OutputBounds;

/// Poll interval of a growing file.
const POLL_INTERVAL: Duration = Duration::from_millis(5);
/// Bytes kept of a trial's console.
const CONSOLE_KEPT_BYTES: usize = 16 * 1024;
/// Bytes per read of a growing file, which may have any size.
const PART_BYTES: u64 = 1 << 20;
/// Lines buffered; then a pipe's writer blocks, and a file is read later.
const LINES_WAITING: usize = 1024;

/// A line, or why nothing more is read.
pub(crate) type Line = Result<String, String>;

/// The lines of a trial's output.
pub(crate) struct Lines {
    receiver: Receiver<Line>,
    /// True once the writer has ended: the file will not grow any more.
    is_complete: Arc<AtomicBool>,
}

/// Sends lines until one exceeds the bounds.
struct Sending<'a> {
    sender: &'a SyncSender<Line>,
    bounds: OutputBounds,
    lines: u64,
    bytes: u64,
}

impl Sending<'_> {
    /// Sends a line without its end; false if nothing more can be sent.
    fn send(&mut self, line: &[u8]) -> bool {
        self.lines += 1;
        self.bytes = self.bytes.saturating_add(line.len() as u64 + 1);
        let OutputBounds {
            event_bytes,
            record_bytes,
            lines,
        } = self.bounds;
        let excess = match line.len() as u64 {
            length if length > event_bytes => format!("a line of more than {event_bytes} bytes"),
            _ if self.lines > lines => format!("more than {lines} lines"),
            _ if self.bytes > record_bytes => format!("more than {record_bytes} bytes"),
            _ => {
                let line = String::from_utf8_lossy(line).into_owned();
                return self.sender.send(Ok(line)).is_ok();
            }
        };
        let _ = self.sender.send(Err(excess));
        false
    }
}

impl Lines {
    /// Reads a pipe until its end.
    pub(crate) fn of_pipe(pipe: impl Read + Send + 'static, bounds: OutputBounds) -> Self {
        Self::read_by(bounds, move |sending, _| {
            let mut input = BufReader::new(pipe);
            let most = bounds.event_bytes.saturating_add(1);
            let mut line = Vec::new();
            while let Ok(1..) = input.by_ref().take(most).read_until(b'\n', &mut line) {
                if !sending.send(line.strip_suffix(b"\n").unwrap_or(&line)) {
                    return;
                }
                line.clear();
            }
        })
    }

    /// Reads a file that another process appends to.
    pub(crate) fn of_growing_file(
        mut file: impl Read + Send + 'static,
        bounds: OutputBounds,
    ) -> Self {
        Self::read_by(bounds, move |sending, is_complete| {
            let mut pending = Vec::new();
            loop {
                let is_last_read = is_complete.load(Ordering::Acquire);
                let known = pending.len();
                let part = file.by_ref().take(PART_BYTES).read_to_end(&mut pending);
                let Ok(length) = part else { return };
                let is_at_end = (length as u64) < PART_BYTES;
                let is_done = is_last_read && is_at_end;
                // Only the new part of a long line is searched for its end.
                if is_done || pending[known..].contains(&b'\n') {
                    let is_received = send_lines(&mut pending, is_done, sending);
                    if is_done || !is_received {
                        return;
                    }
                }
                if pending.len() as u64 > bounds.event_bytes {
                    sending.send(&pending);
                    return;
                }
                if is_at_end {
                    std::thread::sleep(POLL_INTERVAL);
                }
            }
        })
    }

    fn read_by(
        bounds: OutputBounds,
        read: impl FnOnce(&mut Sending, &AtomicBool) + Send + 'static,
    ) -> Self {
        let (sender, receiver) = sync_channel(LINES_WAITING);
        let is_complete = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&is_complete);
        std::thread::spawn(move || {
            let mut sending = Sending {
                sender: &sender,
                bounds,
                lines: 0,
                bytes: 0,
            };
            read(&mut sending, &seen);
        });
        Self {
            receiver,
            is_complete,
        }
    }

    /// The next line, or an error after `timeout`.
    pub(crate) fn next(&self, timeout: Duration) -> Result<Line, RecvTimeoutError> {
        self.receiver.recv_timeout(timeout)
    }

    /// Declares that the writer has ended: the lines end with the file.
    pub(crate) fn complete(&self) {
        self.is_complete.store(true, Ordering::Release);
    }
}

/// Sends and removes the complete lines of `pending`; if `is_all`, also an unfinished last line.
/// False if nothing more can be sent.
fn send_lines(pending: &mut Vec<u8>, is_all: bool, sending: &mut Sending) -> bool {
    let mut taken = 0;
    for line in pending.split_inclusive(|byte| *byte == b'\n') {
        if !is_all && !line.ends_with(b"\n") {
            break;
        }
        taken += line.len();
        if !sending.send(line.strip_suffix(b"\n").unwrap_or(line)) {
            return false;
        }
    }
    pending.drain(..taken);
    true
}

/// The end of everything written to `pipe`, sent once it is closed.
pub(crate) fn console_of(mut pipe: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut kept = Vec::new();
        let mut part = [0; 4096];
        while let Ok(length @ 1..) = pipe.read(&mut part) {
            kept.extend_from_slice(&part[..length]);
            if kept.len() > 2 * CONSOLE_KEPT_BYTES {
                kept.drain(..kept.len() - CONSOLE_KEPT_BYTES);
            }
        }
        let start = kept.len().saturating_sub(CONSOLE_KEPT_BYTES);
        let _ = sender.send(String::from_utf8_lossy(&kept[start..]).into_owned());
    });
    receiver
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Write;

    use super::*;

    const TIMEOUT: Duration = Duration::from_secs(120);

    const BOUNDS: OutputBounds = OutputBounds {
        event_bytes: 3 << 20,
        record_bytes: 8 << 20,
        lines: 100,
    };

    fn expect_line(lines: &Lines, wanted: &str) {
        assert_eq!(lines.next(TIMEOUT), Ok(Ok(wanted.to_owned())));
    }

    /// Why reading ended, after any number of lines; nothing follows.
    fn end_of(lines: &Lines) -> String {
        loop {
            match lines.next(TIMEOUT).expect("a reason") {
                Ok(_) => {}
                Err(why) => {
                    assert_eq!(lines.next(TIMEOUT), Err(RecvTimeoutError::Disconnected));
                    return why;
                }
            }
        }
    }

    #[test]
    fn a_growing_file_is_read_by_line_and_its_unfinished_line_when_it_is_complete() {
        let folder = tempfile::tempdir().expect("a directory");
        let path = folder.path().join("events");
        let mut file = File::create(&path).expect("a file");
        let lines = Lines::of_growing_file(File::open(&path).expect("it is there"), BOUNDS);
        file.write_all(b"one\ntw").expect("written");
        expect_line(&lines, "one");
        assert!(
            lines.next(Duration::from_millis(50)).is_err(),
            "half a line"
        );
        file.write_all(b"o\nhalf").expect("written");
        expect_line(&lines, "two");
        lines.complete();
        expect_line(&lines, "half");
        assert_eq!(lines.next(TIMEOUT), Err(RecvTimeoutError::Disconnected));
    }

    // A guest had made its events file a terabyte long, and the host read all of it into memory; of
    // a process on the host itself an endless line was read without any limit.
    #[test]
    fn reading_stops_at_an_endless_line() {
        let file = tempfile::tempfile().expect("a file");
        file.set_len(1 << 40).expect("sparse");
        let why = end_of(&Lines::of_growing_file(file, BOUNDS));
        assert_eq!(why, "a line of more than 3145728 bytes");
        let endless = std::io::repeat(b'x');
        assert_eq!(end_of(&Lines::of_pipe(endless, BOUNDS)), why);
    }

    // Lines had no limit: a process that repeats an event filled the host's memory.
    #[test]
    fn reading_stops_at_endless_lines_and_bytes() {
        let repeated = |line: &'static [u8]| {
            let endless = (0..).map(move |at: usize| line[at % line.len()]);
            Lines::of_pipe(Bytewise(endless), BOUNDS)
        };
        assert_eq!(end_of(&repeated(b"x\n")), "more than 100 lines");
        let wide: &'static [u8] = Box::leak([&[b'x'; 1 << 20][..], b"\n"].concat().into());
        assert_eq!(end_of(&repeated(wide)), "more than 8388608 bytes");
    }

    /// A reader of an iterator's bytes.
    struct Bytewise<I>(I);

    impl<I: Iterator<Item = u8>> Read for Bytewise<I> {
        fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
            let mut length = 0;
            for (place, byte) in into.iter_mut().zip(&mut self.0) {
                *place = byte;
                length += 1;
            }
            Ok(length)
        }
    }

    #[test]
    fn of_a_long_console_the_end_is_kept() {
        let text = "x".repeat(3 * CONSOLE_KEPT_BYTES) + "the end";
        let console = console_of(std::io::Cursor::new(text));
        let kept = console.recv_timeout(TIMEOUT).expect("it ends");
        assert_eq!(kept.len(), CONSOLE_KEPT_BYTES);
        assert!(kept.ends_with("the end"));
    }
}
