//! Reads a trial's output: events line by line, and the end of the console.

use std::io::{BufRead, BufReader, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, channel, sync_channel};
use std::time::Duration;

/// Poll interval of a growing file.
const POLL_INTERVAL: Duration = Duration::from_millis(5);
/// Bytes kept of a trial's console.
const CONSOLE_KEPT_BYTES: usize = 16 * 1024;
/// Longest line of a growing file: a longer one is no event, and reading stops there.
const LINE_BYTES_MAX: usize = 64 << 20;
/// Bytes per read of a growing file, which may have any size.
const PART_BYTES: u64 = 1 << 20;
/// Lines buffered; then a pipe's writer blocks, and a file is read later.
const LINES_WAITING: usize = 1024;

/// The lines of a trial's output.
pub(crate) struct Lines {
    receiver: Receiver<String>,
    /// True once the writer has ended: the file will not grow any more.
    is_complete: Arc<AtomicBool>,
}

impl Lines {
    /// Reads a pipe until its end.
    pub(crate) fn of_pipe(pipe: impl Read + Send + 'static) -> Self {
        Self::read_by(|sender, _| {
            for line in BufReader::new(pipe).split(b'\n') {
                let Ok(line) = line else { return };
                let line = String::from_utf8_lossy(&line).into_owned();
                if sender.send(line).is_err() {
                    return;
                }
            }
        })
    }

    /// Reads a file that another process appends to.
    pub(crate) fn of_growing_file(mut file: impl Read + Send + 'static) -> Self {
        Self::read_by(move |sender, is_complete| {
            let mut pending = Vec::new();
            loop {
                let is_last_read = is_complete.load(Ordering::Acquire);
                let known = pending.len();
                let part = file.by_ref().take(PART_BYTES).read_to_end(&mut pending);
                let Ok(length) = part else { return };
                let is_at_end = (length as u64) < PART_BYTES;
                let is_all = is_last_read && is_at_end || pending.len() > LINE_BYTES_MAX;
                // Only the new part of a long line is searched for its end.
                if is_all || pending[known..].contains(&b'\n') {
                    let is_received = send_lines(&mut pending, is_all, sender);
                    if is_all || !is_received {
                        return;
                    }
                }
                if is_at_end {
                    std::thread::sleep(POLL_INTERVAL);
                }
            }
        })
    }

    fn read_by(read: impl FnOnce(&SyncSender<String>, &AtomicBool) + Send + 'static) -> Self {
        let (sender, receiver) = sync_channel(LINES_WAITING);
        let is_complete = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&is_complete);
        std::thread::spawn(move || read(&sender, &seen));
        Self {
            receiver,
            is_complete,
        }
    }

    /// The next line, or an error after `timeout`.
    pub(crate) fn next(&self, timeout: Duration) -> Result<String, RecvTimeoutError> {
        self.receiver.recv_timeout(timeout)
    }

    /// Declares that the writer has ended: the lines end with the file.
    pub(crate) fn complete(&self) {
        self.is_complete.store(true, Ordering::Release);
    }
}

/// Sends and removes the complete lines of `pending`; if `is_all`, also an unfinished last line.
/// False if the receiver is gone.
fn send_lines(pending: &mut Vec<u8>, is_all: bool, sender: &SyncSender<String>) -> bool {
    let mut taken = 0;
    for line in pending.split_inclusive(|byte| *byte == b'\n') {
        if !is_all && !line.ends_with(b"\n") {
            break;
        }
        taken += line.len();
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = String::from_utf8_lossy(line).into_owned();
        if sender.send(line).is_err() {
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

    #[test]
    fn a_growing_file_is_read_by_line_and_its_unfinished_line_when_it_is_complete() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("events");
        let mut file = File::create(&path).expect("a file");
        let lines = Lines::of_growing_file(File::open(&path).expect("it is there"));
        file.write_all(b"one\ntw").expect("written");
        assert_eq!(lines.next(TIMEOUT).as_deref(), Ok("one"));
        assert!(
            lines.next(Duration::from_millis(50)).is_err(),
            "half a line"
        );
        file.write_all(b"o\nhalf").expect("written");
        assert_eq!(lines.next(TIMEOUT).as_deref(), Ok("two"));
        lines.complete();
        assert_eq!(lines.next(TIMEOUT).as_deref(), Ok("half"));
        assert_eq!(lines.next(TIMEOUT), Err(RecvTimeoutError::Disconnected));
    }

    // A guest had made its events file a terabyte long, and the host read all of it into memory.
    #[test]
    fn reading_stops_at_an_endless_line() {
        let file = tempfile::tempfile().expect("a file");
        file.set_len(1 << 40).expect("sparse");
        let lines = Lines::of_growing_file(file);
        let line = lines.next(TIMEOUT).expect("what there was");
        assert!(line.len() > LINE_BYTES_MAX && line.len() < 2 * LINE_BYTES_MAX);
        assert_eq!(lines.next(TIMEOUT), Err(RecvTimeoutError::Disconnected));
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
