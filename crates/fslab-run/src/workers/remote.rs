//! The side of the conductor.

use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError, Sender, SyncSender};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use fslab_model::{Event, Failure, FailureKind, TrialRecord};
use fslab_venue::{Control, TrialRequest};

use super::admission::Admission;
use super::link::{Link, Loss, Notice, stops_requested};
use super::protocol::{Assignment, ToWorker};
use crate::executor::Executor;

/// Time in which a worker must be ready: it may unpack a lab.
const READY_LIMIT: Duration = Duration::from_secs(300);
/// Interval at which one thread checks for stop requests.
const CHECK_INTERVAL: Duration = Duration::from_millis(100);

/// Workers behind a socket, one for each slot.
pub struct TrialWorkers {
    links: Vec<Mutex<Option<Link>>>,
    admission: Admission,
    lost: OnceLock<Failure>,
    /// The channels of all links, for stop requests.
    notices: Vec<SyncSender<Notice>>,
    /// The thread that watches for stop requests ends when this is dropped.
    watch: OnceLock<Sender<()>>,
}

impl TrialWorkers {
    /// Connects `count` workers through the socket at `path`.
    ///
    /// # Errors
    /// A [`Failure`] if a worker cannot be reached or refuses the run.
    pub fn connect(path: &Path, count: usize, assignment: Assignment) -> Result<Self, Failure> {
        let admission = Admission::of(&assignment)?;
        let bytes_max = admission.bounds().record_bytes;
        let begin = ToWorker::Begin(Box::new(assignment));
        let opened: Result<Vec<_>, _> = (0..count)
            .map(|_| Link::open(path, &begin, bytes_max))
            .collect();
        let (links, notices): (Vec<_>, Vec<_>) = opened?.into_iter().unzip();
        let until = Instant::now() + READY_LIMIT;
        let mut ready = Vec::new();
        for (slot, mut link) in links.into_iter().enumerate() {
            link.host = link.ready(slot, until)?;
            ready.push(Mutex::new(Some(link)));
        }
        Ok(Self {
            links: ready,
            admission,
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
                            // An error: the link is closed, or awake with other messages.
                            let _ = notice.try_send(Notice::StopRequest);
                        }
                    }
                }
            });
            sender
        });
    }

    /// Gives up the worker of `slot`. The failure is no result of its trial.
    fn retire(&self, slot: usize, host: &str, loss: &Loss) -> Failure {
        let (why, hint) = match loss {
            Loss::Gone(why) => (
                *why,
                "run the same command with --resume to run the missing trials",
            ),
            Loss::False(why) => (
                why.as_str(),
                "it gets no further trials, and its earlier records are kept; check that machine \
                 and its fslab, then run the same command with --resume",
            ),
        };
        let text = format!("the worker {} on {host} {why}", slot + 1);
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
            let failure = self.retire(slot, "its machine", &Loss::Gone("has ended"));
            return request.failed(started_unix_s, failure);
        };
        match link.run(request, control, &self.admission, on_event) {
            Ok(record) => {
                *place = Some(link);
                // By the clock of the run, as all others.
                TrialRecord {
                    started_unix_s,
                    ..record
                }
            }
            Err(loss) => request.failed(started_unix_s, self.retire(slot, &link.host, &loss)),
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
