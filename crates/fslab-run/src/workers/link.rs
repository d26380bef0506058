//! The connection with one worker: one trial at a time, one record for each.
//!
//! Invariant: what is held of a worker is bounded. Its reader waits while a few messages wait here,
//! and a line has at most the bytes of a record.

use std::io::BufReader;
use std::net::Shutdown;
use std::path::Path;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender, TryRecvError};
use std::thread;
use std::time::{Duration, Instant};

use fslab_model::{Event, Failure, FailureKind, TrialRecord};
use fslab_sys::os::UnixStream;
use fslab_venue::{Control, TrialRequest};

use super::admission::{Admission, ensure_step, is_name};
use super::protocol::{FromWorker, ToWorker, Unreadable, receive, send};

/// Time beyond a trial's limit after which its worker counts as dead: the worker ends it first.
const GRACE: Duration = Duration::from_secs(120);
/// Messages that wait for the conductor; then the worker waits.
const NOTICES_WAITING: usize = 4;

/// What ends the wait for a worker.
pub(super) enum Notice {
    Message(FromWorker),
    /// What it sent is no message.
    Bad(String),
    /// A stop or a kill was requested.
    StopRequest,
    /// The connection has ended.
    End,
}

/// Why a worker is of no more use: completes `the worker 1 on host`.
pub(super) enum Loss {
    /// It has ended, or does not answer.
    Gone(&'static str),
    /// It sent what cannot be true.
    False(String),
}

const ENDED: Loss = Loss::Gone("has ended");

/// The connection with a worker.
pub(super) struct Link {
    stream: UnixStream,
    notices: Receiver<Notice>,
    pub(super) host: String,
}

impl Drop for Link {
    fn drop(&mut self) {
        // The reader's copy would keep the connection open. An error: it is closed.
        let _ = self.stream.shutdown(Shutdown::Both);
    }
}

impl Link {
    /// Connects with a worker, whose lines have at most `bytes_max` bytes.
    pub(super) fn open(
        path: &Path,
        begin: &ToWorker,
        bytes_max: u64,
    ) -> Result<(Self, SyncSender<Notice>), Failure> {
        let cannot = |error: std::io::Error| {
            let text = format!("cannot reach a worker through {}", path.display());
            Failure::new(FailureKind::Host, text).because(&error)
        };
        let mut stream = UnixStream::connect(path).map_err(cannot)?;
        send(&mut stream, begin).map_err(cannot)?;
        let mut input = BufReader::new(stream.try_clone().map_err(cannot)?);
        let (notice, notices) = mpsc::sync_channel(NOTICES_WAITING);
        let sender = notice.clone();
        thread::spawn(move || {
            loop {
                let (notice, is_last) = match receive(&mut input, bytes_max) {
                    Ok(Some(message)) => (Notice::Message(message), false),
                    Err(Unreadable::Bad(why)) => (Notice::Bad(why), true),
                    Ok(None) | Err(Unreadable::Io(_)) => (Notice::End, true),
                };
                // An error: the link is closed.
                if sender.send(notice).is_err() || is_last {
                    return;
                }
            }
        });
        let link = Self {
            stream,
            notices,
            host: String::new(),
        };
        Ok((link, notice))
    }

    /// The name of the worker's machine, once it is ready.
    pub(super) fn ready(&self, slot: usize, until: Instant) -> Result<String, Failure> {
        let left = until.saturating_duration_since(Instant::now());
        let worker = slot + 1;
        let failed = |kind, what: &str| Err(Failure::new(kind, format!("worker {worker} {what}")));
        match self.notices.recv_timeout(left) {
            Ok(Notice::Message(FromWorker::Ready { host } | FromWorker::Refused { host, .. }))
                if !is_name(&host) =>
            {
                failed(FailureKind::Host, "sent an invalid machine name")
            }
            Ok(Notice::Message(FromWorker::Ready { host })) => Ok(host),
            Ok(Notice::Message(FromWorker::Refused { host, mut failure })) => {
                failure.message = format!("worker {worker} on {host}: {}", failure.message);
                Err(failure)
            }
            Ok(Notice::Message(_)) => {
                failed(FailureKind::Host, "sent a result before it was ready")
            }
            Ok(Notice::Bad(why)) => failed(FailureKind::Host, &format!("sent {why}")),
            Ok(Notice::End | Notice::StopRequest) | Err(_) => {
                failed(FailureKind::Host, "did not become ready")
            }
        }
    }

    /// The record of a trial, as far as it can be one.
    pub(super) fn run(
        &mut self,
        request: &TrialRequest,
        control: &Control,
        admission: &Admission,
        on_event: &mut dyn FnMut(&Event),
    ) -> Result<TrialRecord, Loss> {
        self.ensure_silent()?;
        let trial = request.task.trial;
        let ended = |_| ENDED;
        let begin = ToWorker::Trial {
            trial,
            position: request.position,
        };
        let began = Instant::now();
        send(&mut self.stream, &begin).map_err(ended)?;
        let until = began + request.limit + GRACE;
        let (mut stops, mut events) = (0, 0);
        loop {
            // Also requests from before this trial.
            let requested = stops_requested(control);
            for _ in stops..requested {
                send(&mut self.stream, &ToWorker::Stop).map_err(ended)?;
            }
            stops = requested.max(stops);
            let left = until.saturating_duration_since(Instant::now());
            match self.notices.recv_timeout(left) {
                Ok(Notice::Message(FromWorker::Event { body })) => {
                    events += 1;
                    if events > admission.bounds().lines {
                        return Err(Loss::False(format!("sent more than {} events", events - 1)));
                    }
                    ensure_step(&body).map_err(|why| Loss::False(format!("sent {why}")))?;
                    on_event(&body);
                }
                Ok(Notice::Message(FromWorker::Record { record })) => {
                    let elapsed_ns = u64::try_from(began.elapsed().as_nanos());
                    let elapsed_ns = elapsed_ns.unwrap_or(u64::MAX);
                    let admitted = admission.ensure_record(request, &record, elapsed_ns);
                    let why = |why| Loss::False(format!("sent a record with {why}"));
                    return admitted.map(|()| *record).map_err(why);
                }
                Ok(Notice::Message(FromWorker::Ready { .. } | FromWorker::Refused { .. })) => {
                    let text = "sent an invalid record of its trial";
                    return Err(Loss::False(text.to_owned()));
                }
                Ok(Notice::Bad(why)) => return Err(Loss::False(format!("sent {why}"))),
                Ok(Notice::StopRequest) => {}
                Ok(Notice::End) | Err(RecvTimeoutError::Disconnected) => return Err(ENDED),
                Err(RecvTimeoutError::Timeout) => {
                    return Err(Loss::Gone("did not end a trial at its time limit"));
                }
            }
        }
    }

    /// Checks that the worker has sent nothing since its last record: a record arrives once, and
    /// after it was asked for.
    fn ensure_silent(&self) -> Result<(), Loss> {
        loop {
            return match self.notices.try_recv() {
                Ok(Notice::StopRequest) => continue,
                Err(TryRecvError::Empty) => Ok(()),
                Ok(Notice::Message(_)) => {
                    let text = "sent a message before it was asked for a trial";
                    Err(Loss::False(text.to_owned()))
                }
                Ok(Notice::Bad(why)) => Err(Loss::False(format!("sent {why}"))),
                Ok(Notice::End) | Err(TryRecvError::Disconnected) => Err(ENDED),
            };
        }
    }
}

/// Number of stop messages that a worker needs.
pub(super) fn stops_requested(control: &Control) -> usize {
    usize::from(control.is_stopping()) + usize::from(control.kill_requested())
}
