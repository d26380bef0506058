//! The side of the conductor.

use fslab_sys::os::UnixStream;
use std::io::BufReader;
use std::net::Shutdown;
use std::path::Path;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use fslab_model::{Event, Failure, FailureKind, TrialRecord};
use fslab_venue::{Control, TrialRequest};

use super::protocol::{Assignment, FromWorker, ToWorker, receive, send};
use crate::executor::Executor;

/// Time in which a worker must be ready: it may unpack a lab.
const READY_LIMIT: Duration = Duration::from_secs(300);
/// Time beyond a trial's limit after which its worker counts as dead: the worker ends it first.
const GRACE: Duration = Duration::from_secs(120);
/// Interval at which one thread checks for stop requests.
const CHECK_INTERVAL: Duration = Duration::from_millis(100);

/// Workers behind a socket, one for each slot.
pub struct TrialWorkers {
    links: Vec<Mutex<Option<Link>>>,
    lost: OnceLock<Failure>,
    /// The channels of all links, for stop requests.
    notices: Vec<Sender<Notice>>,
    /// The thread that watches for stop requests ends when this is dropped.
    watch: OnceLock<Sender<()>>,
}

/// What ends the wait for a worker.
enum Notice {
    Message(FromWorker),
    /// A stop or a kill was requested.
    StopRequest,
    /// The connection has ended.
    End,
}

/// The connection with a worker.
struct Link {
    stream: UnixStream,
    notices: Receiver<Notice>,
    host: String,
}

impl TrialWorkers {
    /// Connects `count` workers through the socket at `path`.
    ///
    /// # Errors
    /// A [`Failure`] if a worker cannot be reached or refuses the run.
    pub fn connect(path: &Path, count: usize, assignment: Assignment) -> Result<Self, Failure> {
        let begin = ToWorker::Begin(Box::new(assignment));
        let opened: Result<Vec<_>, _> = (0..count).map(|_| Link::open(path, &begin)).collect();
        let (links, notices): (Vec<_>, Vec<_>) = opened?.into_iter().unzip();
        let until = Instant::now() + READY_LIMIT;
        let mut ready = Vec::new();
        for (slot, mut link) in links.into_iter().enumerate() {
            link.host = link.ready(slot, until)?;
            ready.push(Mutex::new(Some(link)));
        }
        Ok(Self {
            links: ready,
            lost: OnceLock::new(),
            notices,
            watch: OnceLock::new(),
        })
    }

    /// Starts, once, a thread that sends each new request of `control` to all links.
    fn watch(&self, control: &Control) {
        self.watch.get_or_init(|| {
            let (sender, dropped) = mpsc::channel();
            let (control, notices) = (control.clone(), self.notices.clone());
            thread::spawn(move || {
                let mut seen = 0;
                while dropped.recv_timeout(CHECK_INTERVAL) == Err(RecvTimeoutError::Timeout) {
                    let requested = stops_requested(&control);
                    if requested > seen {
                        seen = requested;
                        for notice in &notices {
                            // An error: the link is closed.
                            let _ = notice.send(Notice::StopRequest);
                        }
                    }
                }
            });
            sender
        });
    }

    /// Gives up the worker of `slot`. The failure is no result of its trial.
    fn retire(&self, slot: usize, host: &str, why: &str) -> Failure {
        let text = format!("the worker {} on {host} {why}", slot + 1);
        let hint = "repeat the command with --resume: it runs the missing trials";
        let failure = Failure::new(FailureKind::Host, text).hint(hint);
        let is_last = (0..self.links.len()).all(|other| other == slot || !self.is_ready(other));
        if is_last {
            let _ = self.lost.set(failure.clone());
        }
        failure
    }
}

impl Executor for TrialWorkers {
    fn run_trial(
        &self,
        request: &TrialRequest,
        control: &Control,
        on_event: &mut dyn FnMut(&Event),
    ) -> TrialRecord {
        let started_unix_s = fslab_sys::unix_seconds();
        let slot = request.slot;
        self.watch(control);
        // A slot has one trial at a time.
        let mut place = self.links[slot]
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let Some(mut link) = place.take() else {
            let failure = self.retire(slot, "its machine", "has ended");
            return request.failed(started_unix_s, failure);
        };
        match link.run(request, control, on_event) {
            Ok(record) => {
                *place = Some(link);
                record
            }
            Err(why) => request.failed(started_unix_s, self.retire(slot, &link.host, &why)),
        }
    }

    fn lost(&self) -> Option<&Failure> {
        self.lost.get()
    }

    fn is_ready(&self, slot: usize) -> bool {
        // A slot that is locked runs a trial.
        self.links[slot]
            .try_lock()
            .map_or(true, |link| link.is_some())
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        // The reader's copy would keep the connection open. An error: it is closed.
        let _ = self.stream.shutdown(Shutdown::Both);
    }
}

impl Link {
    fn open(path: &Path, begin: &ToWorker) -> Result<(Self, Sender<Notice>), Failure> {
        let cannot = |error: std::io::Error| {
            let text = format!("cannot reach a worker through {}", path.display());
            Failure::new(FailureKind::Host, text).because(&error)
        };
        let mut stream = UnixStream::connect(path).map_err(cannot)?;
        send(&mut stream, begin).map_err(cannot)?;
        let mut input = BufReader::new(stream.try_clone().map_err(cannot)?);
        let (notice, notices) = mpsc::channel();
        let sender = notice.clone();
        thread::spawn(move || {
            while let Ok(Some(message)) = receive(&mut input) {
                if sender.send(Notice::Message(message)).is_err() {
                    return;
                }
            }
            let _ = sender.send(Notice::End);
        });
        let link = Self {
            stream,
            notices,
            host: String::new(),
        };
        Ok((link, notice))
    }

    /// The name of the worker's machine, once it is ready.
    fn ready(&self, slot: usize, until: Instant) -> Result<String, Failure> {
        let left = until.saturating_duration_since(Instant::now());
        let worker = slot + 1;
        match self.notices.recv_timeout(left) {
            Ok(Notice::Message(FromWorker::Ready { host })) => Ok(host),
            Ok(Notice::Message(FromWorker::Refused { host, mut failure })) => {
                failure.message = format!("worker {worker} on {host}: {}", failure.message);
                Err(failure)
            }
            Ok(Notice::Message(_)) => Err(Failure::new(
                FailureKind::Protocol,
                format!("worker {worker} sent a result before it was ready"),
            )),
            Ok(Notice::End | Notice::StopRequest) | Err(_) => Err(Failure::new(
                FailureKind::Host,
                format!("worker {worker} did not become ready"),
            )),
        }
    }

    /// The record of a trial; an error says why the worker is of no more use.
    fn run(
        &mut self,
        request: &TrialRequest,
        control: &Control,
        on_event: &mut dyn FnMut(&Event),
    ) -> Result<TrialRecord, String> {
        let trial = request.task.trial;
        let ended = |_| "has ended".to_owned();
        let begin = ToWorker::Trial {
            trial,
            position: request.position,
        };
        send(&mut self.stream, &begin).map_err(ended)?;
        let until = Instant::now() + request.limit + GRACE;
        let mut stops = 0;
        loop {
            // Also requests from before this trial.
            let requested = stops_requested(control);
            for _ in stops..requested {
                send(&mut self.stream, &ToWorker::Stop).map_err(ended)?;
            }
            stops = requested.max(stops);
            let left = until.saturating_duration_since(Instant::now());
            match self.notices.recv_timeout(left) {
                Ok(Notice::Message(FromWorker::Event { body })) => on_event(&body),
                Ok(Notice::Message(FromWorker::Record { record })) if record.trial == trial => {
                    return Ok(*record);
                }
                Ok(Notice::Message(_)) => {
                    return Err("sent what is no record of its trial".to_owned());
                }
                Ok(Notice::StopRequest) => {}
                Ok(Notice::End) | Err(RecvTimeoutError::Disconnected) => {
                    return Err("has ended".to_owned());
                }
                Err(RecvTimeoutError::Timeout) => {
                    return Err("did not end a trial at its time limit".to_owned());
                }
            }
        }
    }
}

/// Number of stop messages that a worker needs.
fn stops_requested(control: &Control) -> usize {
    usize::from(control.is_stopping()) + usize::from(control.kill_requested())
}
