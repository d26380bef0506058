//! What a trial's process says: its events line by line, and the end of what stands on its console.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, channel, sync_channel};
use std::time::Duration;

/// How often a file that grows is looked at.
const GLANCE: Duration = Duration::from_millis(5);
/// How much of a trial's console is kept.
const CONSOLE_KEPT_BYTES: usize = 16 * 1024;
/// The longest line of a growing file: what has more is no event, and its reading ends there.
const LINE_BYTES_MAX: usize = 64 << 20;
/// How much of a growing file is read at a time: it may have any size.
const PART_BYTES: u64 = 1 << 20;
/// Lines that wait to be taken; who writes more waits, or is read later.
const LINES_WAITING: usize = 1024;

/// The lines of a trial's output, as they come.
pub(crate) struct Lines {
    receiver: Receiver<String>,
    /// Nobody writes any more: what is there now is all.
    is_complete: Arc<AtomicBool>,
}

impl Lines {
    /// Of a pipe, until its end.
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

    /// Of a file that another process appends to.
    pub(crate) fn of_growing_file(mut file: File) -> Self {
        Self::read_by(move |sender, is_complete| {
            let mut pending = Vec::new();
            loop {
                let is_last_look = is_complete.load(Ordering::Acquire);
                let known = pending.len();
                let part = file.by_ref().take(PART_BYTES).read_to_end(&mut pending);
                let Ok(length) = part else { return };
                let is_at_end = (length as u64) < PART_BYTES;
                let is_all = is_last_look && is_at_end || pending.len() > LINE_BYTES_MAX;
                // A long line is searched for its end once, not each time that it has grown.
                if is_all || pending[known..].contains(&b'\n') {
                    let is_heard = send_lines(&mut pending, is_all, sender);
                    if is_all || !is_heard {
                        return;
                    }
                }
                if is_at_end {
                    std::thread::sleep(GLANCE);
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

    /// The next line, or why there is none within `patience`.
    pub(crate) fn next(&self, patience: Duration) -> Result<String, RecvTimeoutError> {
        self.receiver.recv_timeout(patience)
    }

    /// Says that whoever wrote is gone: the lines end where the file ends.
    pub(crate) fn complete(&self) {
        self.is_complete.store(true, Ordering::Release);
    }
}

/// Sends the whole lines of `pending` and takes them out; where that `is_all`, also what has no
/// end. Whether anybody listens.
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

/// The end of everything that `pipe` brings, once it is closed.
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
    use std::io::Write;

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(120);

    #[test]
    fn a_growing_file_is_read_line_by_line_and_its_last_words_when_it_is_complete() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("events");
        let mut file = File::create(&path).expect("a file");
        let lines = Lines::of_growing_file(File::open(&path).expect("it is there"));
        file.write_all(b"one\ntw").expect("written");
        assert_eq!(lines.next(PATIENCE).as_deref(), Ok("one"));
        assert!(
            lines.next(Duration::from_millis(50)).is_err(),
            "half a line"
        );
        file.write_all(b"o\nhalf").expect("written");
        assert_eq!(lines.next(PATIENCE).as_deref(), Ok("two"));
        lines.complete();
        assert_eq!(lines.next(PATIENCE).as_deref(), Ok("half"));
        assert_eq!(lines.next(PATIENCE), Err(RecvTimeoutError::Disconnected));
    }

    // A guest that made the file of its events a terabyte long had the host read all of it into
    // memory.
    #[test]
    fn a_line_without_end_ends_the_reading() {
        let file = tempfile::tempfile().expect("a file");
        file.set_len(1 << 40).expect("sparse");
        let lines = Lines::of_growing_file(file);
        let line = lines.next(PATIENCE).expect("what there was");
        assert!(line.len() > LINE_BYTES_MAX && line.len() < 2 * LINE_BYTES_MAX);
        assert_eq!(lines.next(PATIENCE), Err(RecvTimeoutError::Disconnected));
    }

    #[test]
    fn of_a_long_console_the_end_is_kept() {
        let text = "x".repeat(3 * CONSOLE_KEPT_BYTES) + "the end";
        let console = console_of(std::io::Cursor::new(text));
        let kept = console.recv_timeout(PATIENCE).expect("it ends");
        assert_eq!(kept.len(), CONSOLE_KEPT_BYTES);
        assert!(kept.ends_with("the end"));
    }
}
