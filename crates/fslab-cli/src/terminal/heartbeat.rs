//! A line from time to time while something long is under way, for logs without a terminal.

use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Time between two lines.
pub(crate) const INTERVAL: Duration = Duration::from_secs(30);

/// What the thread learns.
enum Change {
    /// What is under way from now on; empty for nothing.
    UnderWay(String),
    /// Another line was written.
    Line,
}

/// Repeats what is under way until it is dropped.
pub(crate) struct Heartbeat {
    /// Dropped first, so that the thread ends.
    changes: Option<Sender<Change>>,
    thread: Option<JoinHandle<()>>,
}

impl Heartbeat {
    /// From now on, writes a line each `interval` in which no other line was written, with the time
    /// since what is under way has begun.
    pub(crate) fn start(interval: Duration, write: impl Fn(&str) + Send + 'static) -> Self {
        let (changes, changed) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            let mut under_way = String::new();
            let mut since = Instant::now();
            let mut due = Instant::now() + interval;
            loop {
                match changed.recv_timeout(due.saturating_duration_since(Instant::now())) {
                    Ok(Change::Line) => due = Instant::now() + interval,
                    Ok(Change::UnderWay(next)) if next == under_way => {}
                    Ok(Change::UnderWay(next)) => {
                        under_way = next;
                        since = Instant::now();
                    }
                    Err(RecvTimeoutError::Timeout) => {
                        if !under_way.is_empty() {
                            write(&format!("{under_way} for {}", minutes(since.elapsed())));
                        }
                        due = Instant::now() + interval;
                    }
                    Err(RecvTimeoutError::Disconnected) => return,
                }
            }
        });
        Self {
            changes: Some(changes),
            thread: Some(thread),
        }
    }

    /// Sets what is under way; empty for nothing.
    pub(crate) fn set(&self, under_way: &str) {
        self.send(Change::UnderWay(under_way.to_owned()));
    }

    /// Another line was written: the next one is due an interval later.
    pub(crate) fn line_written(&self) {
        self.send(Change::Line);
    }

    fn send(&self, change: Change) {
        if let Some(changes) = &self.changes {
            let _ = changes.send(change);
        }
    }
}

impl Drop for Heartbeat {
    fn drop(&mut self) {
        drop(self.changes.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// `4 min 05 s`, or `12 s`.
pub(crate) fn minutes(duration: Duration) -> String {
    let seconds = duration.as_secs();
    if seconds >= 60 {
        format!("{} min {:02} s", seconds / 60, seconds % 60)
    } else {
        format!("{seconds} s")
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    /// A trial of ten minutes left a log without a line, and services of continuous integration end
    /// a job that is silent for as long.
    #[test]
    fn lines_come_while_something_is_under_way_and_none_otherwise() {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let (written, received) = mpsc::channel();
        let kept = Arc::clone(&lines);
        let heartbeat = Heartbeat::start(Duration::from_millis(10), move |line| {
            kept.lock().expect("lines").push(line.to_owned());
            let _ = written.send(());
        });
        std::thread::sleep(Duration::from_millis(50));
        assert!(
            lines.lock().expect("lines").is_empty(),
            "nothing is under way"
        );
        heartbeat.set("ext4 #1: mkfs");
        received.recv().expect("a line");
        received.recv().expect("another");
        drop(heartbeat);
        let lines = lines.lock().expect("lines");
        assert!(
            lines.iter().all(|line| line == "ext4 #1: mkfs for 0 s"),
            "{lines:?}"
        );
    }
}
