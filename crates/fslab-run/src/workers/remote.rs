//! The side of the conductor.

use fslab_sys::os::UnixStream;
use std::io::BufReader;
use std::net::Shutdown;
use std::path::Path;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
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
/// Interval at which a waiter checks for stop requests.
const CHECK_INTERVAL: Duration = Duration::from_millis(100);

/// TrialWorkers behind a socket, one for each slot.
pub struct TrialWorkers {
    links: Vec<Mutex<Option<Link>>>,
    lost: OnceLock<Failure>,
}

/// The connection with a worker.
struct Link {
    stream: UnixStream,
    /// Closed at the end of the connection.
    messages: Receiver<FromWorker>,
    host: String,
}

impl TrialWorkers {
    /// Connects `count` workers through the socket at `path`.
    ///
    /// # Errors
    /// A [`Failure`] if a worker cannot be reached or refuses the run.
    pub fn connect(path: &Path, count: usize, assignment: Assignment) -> Result<Self, Failure> {
        let begin = ToWorker::Begin(Box::new(assignment));
        let links: Result<Vec<_>, _> = (0..count).map(|_| Link::open(path, &begin)).collect();
        let until = Instant::now() + READY_LIMIT;
        let mut ready = Vec::new();
        for (slot, mut link) in links?.into_iter().enumerate() {
            link.host = link.ready(slot, until)?;
            ready.push(Mutex::new(Some(link)));
        }
        Ok(Self {
            links: ready,
            lost: OnceLock::new(),
        })
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
    fn open(path: &Path, begin: &ToWorker) -> Result<Self, Failure> {
        let cannot = |error: std::io::Error| {
            let text = format!("cannot reach a worker through {}", path.display());
            Failure::new(FailureKind::Host, text).because(&error)
        };
        let mut stream = UnixStream::connect(path).map_err(cannot)?;
        send(&mut stream, begin).map_err(cannot)?;
        let mut input = BufReader::new(stream.try_clone().map_err(cannot)?);
        let (sender, messages) = mpsc::channel();
        thread::spawn(move || {
            while let Ok(Some(message)) = receive(&mut input) {
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        Ok(Self {
            stream,
            messages,
            host: String::new(),
        })
    }

    /// The name of the worker's machine, once it is ready.
    fn ready(&self, slot: usize, until: Instant) -> Result<String, Failure> {
        let left = until.saturating_duration_since(Instant::now());
        let worker = slot + 1;
        match self.messages.recv_timeout(left) {
            Ok(FromWorker::Ready { host }) => Ok(host),
            Ok(FromWorker::Refused { host, mut failure }) => {
                failure.message = format!("worker {worker} on {host}: {}", failure.message);
                Err(failure)
            }
            Ok(_) => Err(Failure::new(
                FailureKind::Protocol,
                format!("worker {worker} sent a result before it was ready"),
            )),
            Err(_) => Err(Failure::new(
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
            match self.messages.recv_timeout(CHECK_INTERVAL) {
                Ok(FromWorker::Event { body }) => on_event(&body),
                Ok(FromWorker::Record { record }) if record.trial == trial => return Ok(*record),
                Ok(_) => return Err("sent what is no record of its trial".to_owned()),
                Err(RecvTimeoutError::Disconnected) => return Err("has ended".to_owned()),
                Err(RecvTimeoutError::Timeout) => {}
            }
            let wanted = usize::from(control.is_stopping()) + usize::from(control.kill_requested());
            for _ in stops..wanted {
                send(&mut self.stream, &ToWorker::Stop).map_err(ended)?;
            }
            stops = wanted.max(stops);
            if Instant::now() > until {
                return Err("did not end a trial at its time limit".to_owned());
            }
        }
    }
}
