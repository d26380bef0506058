//! A rank from 1: starts `fslab worker` at the first bytes from the conductor, and relays.

use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::time::{Duration, Instant};

use crate::Ended;
use crate::frame::Kind;
use crate::hello::{self, Hello};
use crate::link::Link;
use crate::stop::Stops;
use crate::streams::{self, Output, PARTS_MAX, Part};

/// Interval between signs of life.
pub(crate) const ALIVE_INTERVAL: Duration = Duration::from_secs(5);
/// Time without a sign of life after which a rank counts as dead.
pub(crate) const SILENCE_MAX: Duration = Duration::from_secs(60);
/// Interval at which ranks look for messages: 0.2 % of a processor. MPI's own wait takes all of it.
const POLL_INTERVAL: Duration = Duration::from_millis(10);
/// Time that a worker has to end its trial and undo it.
pub(crate) const END_MAX: Duration = Duration::from_secs(60);

/// The running `fslab worker`.
struct Worker {
    child: Child,
    /// `None` after the end of its standard input, at which it ends its trial.
    input: Option<Output>,
}

impl Worker {
    /// In a separate process group: what ends the rank by force leaves it the time to clean up.
    fn start(output: &SyncSender<Part>) -> std::io::Result<Self> {
        let mut child = Command::new(hello::program())
            .arg("worker")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .process_group(0)
            .spawn()?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        streams::read_from(stdout.expect("piped"), 0, output.clone());
        let input = streams::write_to(stdin.expect("piped"), drop);
        Ok(Self {
            child,
            input: Some(input),
        })
    }

    /// Ends its standard input, and waits until it has ended.
    fn end(&mut self) {
        self.input = None;
        let until = Instant::now() + END_MAX;
        while Instant::now() < until {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(POLL_INTERVAL);
        }
    }
}

/// The state of this side.
struct Side<'a> {
    link: &'a Link<'a>,
    worker: Option<Worker>,
    output: SyncSender<Part>,
}

/// Relays until rank 0 ends the job, or is gone.
pub(crate) fn relay(link: &Link) -> Ended {
    let Ok(mut stops) = Stops::catch() else {
        eprintln!("error: rank {} cannot handle signals", link.rank());
        return Ended {
            code: 4,
            all_alive: false,
        };
    };
    link.send(0, Kind::Hello, Hello::here().to_text().as_bytes());
    let (output, parts) = mpsc::sync_channel(PARTS_MAX);
    let mut side = Side {
        link,
        worker: None,
        output,
    };
    let (mut last_message, mut last_sent) = (Instant::now(), Instant::now());
    loop {
        while let Some((_, kind, payload)) = link.receive() {
            last_message = Instant::now();
            if kind == Kind::End {
                side.end();
                link.send(0, Kind::Bye, &[]);
                // Rank 0 knows which ranks are alive.
                return Ended {
                    code: 0,
                    all_alive: payload == [1],
                };
            }
            side.take(kind, payload);
        }
        side.send_output(&parts);
        if stops.take() > 0 {
            side.end();
            link.send(0, Kind::Close, &[]);
        }
        if last_sent.elapsed() > ALIVE_INTERVAL {
            link.send(0, Kind::Alive, &[]);
            last_sent = Instant::now();
        }
        if last_message.elapsed() > SILENCE_MAX {
            eprintln!(
                "error: rank {}: rank 0 does not respond; this rank ends",
                link.rank()
            );
            side.end();
            return Ended {
                code: 4,
                all_alive: false,
            };
        }
    }
}

impl Side<'_> {
    fn take(&mut self, kind: Kind, payload: Vec<u8>) {
        match kind {
            Kind::Data => self.give(payload),
            Kind::Close => {
                if let Some(worker) = &mut self.worker {
                    worker.input = None;
                }
            }
            _ => {}
        }
    }

    fn give(&mut self, payload: Vec<u8>) {
        if self.worker.is_none() {
            match Worker::start(&self.output) {
                Ok(worker) => self.worker = Some(worker),
                Err(error) => {
                    eprintln!(
                        "error: rank {}: cannot start fslab: {error}",
                        self.link.rank()
                    );
                    self.link.send(0, Kind::Close, &[]);
                    return;
                }
            }
        }
        let input = self
            .worker
            .as_ref()
            .and_then(|worker| worker.input.as_ref());
        if let Some(input) = input {
            // Rank 0 is trusted: it sends a trial at a time.
            input.send(payload);
        }
    }

    /// Sends what the worker has written; waits a little for it.
    fn send_output(&self, parts: &Receiver<Part>) {
        let mut wait = POLL_INTERVAL;
        loop {
            match parts.recv_timeout(wait) {
                Ok((_, Some(bytes))) => self.link.send(0, Kind::Data, &bytes),
                Ok((_, None)) => self.link.send(0, Kind::Close, &[]),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return,
            }
            wait = Duration::ZERO;
        }
    }

    fn end(&mut self) {
        if let Some(worker) = &mut self.worker {
            worker.end();
        }
    }
}
