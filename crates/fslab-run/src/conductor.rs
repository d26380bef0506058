//! The conductor: runs trials in order and stores each record at once.
//!
//! ```text
//!     blocks 0 .. least     all cells
//!     block least ..        with adaptive repeats: one block at a time, with the cells whose
//!                           earlier repeats do not reach the target
//! ```
//! A cell's place in a block depends only on its records of earlier blocks: an interrupted run
//! continues exactly as it would have.

use std::collections::{BTreeSet, VecDeque};
use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::{Duration, Instant};

use fslab_model::{
    Adaptive, CellId, Event, Failure, FailureKind, RunHeader, SubjectPlan, TrialId, TrialOutcome,
    TrialRecord,
};
use fslab_store::{RunSelector, Store, StoreError};
use fslab_venue::{Control, TrialRequest};

use crate::executor::{Executor, trial_request};
use crate::order::Blocks;
use crate::precision::{CellPrecision, Figures};

/// Receives the progress of a run. All methods are optional.
pub trait Observer {
    /// Number of trials to run now, and of trials in the plan.
    fn begins(&mut self, _to_run: usize, _of: usize) {}
    /// A trial starts.
    fn trial_begins(&mut self, _trial: TrialId, _subject: &SubjectPlan) {}
    /// A trial sends an event.
    fn event(&mut self, _trial: TrialId, _event: &Event) {}
    /// A trial has ended, and its record is stored.
    fn trial_ends(&mut self, _record: &TrialRecord) {}
    /// Precision of the cells of the last block, and number of trials to run in the next.
    fn block_begins(&mut self, _cells: &[CellPrecision], _to_run: usize) {}
    /// The next block is not run, because it would exceed the budget of time.
    fn budget_ends(&mut self) {}
}

/// Result of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunOutcome {
    /// Trials that succeeded.
    pub done: usize,
    /// Trials that failed.
    pub failed: usize,
    /// Trials done before, by the run that is resumed.
    pub kept: usize,
    /// Trials not started or not finished because of a stop request.
    pub missing: usize,
}

/// Hint for a lost device.
const RESUME_HINT: &str =
    "reconnect the device, then run the same command with --resume to run the missing trials";

/// Why a run cannot continue.
#[derive(Debug, thiserror::Error)]
pub enum ConductorError {
    /// A record cannot be stored.
    #[error("cannot store the record of a trial")]
    Store(#[from] StoreError),
    /// The device that all trials share is gone, has changed, or hangs.
    #[error("cannot continue without the device")]
    Lost(Failure),
}

/// A run to conduct. Its header is in the store already.
pub struct Conductor<'a> {
    /// The run's header.
    pub header: &'a RunHeader,
    /// The store for records.
    pub store: &'a mut Store,
    /// Runs the trials.
    pub executor: &'a dyn Executor,
    /// Stop requests.
    pub control: &'a Control,
    /// Parallel trials: more than one only if they cannot disturb each other.
    pub jobs: NonZeroUsize,
    /// True if trials may start programs named by the study.
    pub allow_commands: bool,
    /// The start of the time budget.
    pub began: Instant,
}

/// A message from a worker.
enum Message {
    Begins(TrialId),
    Event(TrialId, Event),
    /// Sent with a channel on which the worker waits until the record is stored, so that storing
    /// disturbs no trial.
    Ends(Box<TrialRecord>, Sender<()>),
}

impl<'a> Conductor<'a> {
    /// Runs every trial of the plan that has no record yet.
    ///
    /// # Errors
    /// [`ConductorError`]: a record cannot be stored, or the device is lost.
    pub fn run(&mut self, observer: &mut dyn Observer) -> Result<RunOutcome, ConductorError> {
        let header = self.header;
        let plan = &header.plan;
        let cells = u32::try_from(plan.subjects.len()).unwrap_or(u32::MAX);
        let done = self.store.done_trials(&header.run)?;
        let mut figures = self.figures_so_far()?;
        let mut blocks = Blocks::new(cells, plan.seed);
        let least: Vec<_> = blocks
            .by_ref()
            .take(plan.repeats as usize)
            .flatten()
            .collect();
        let planned = least.len();
        let queue = self.queue(least, &done);
        let mut outcome = RunOutcome {
            kept: planned - queue.len(),
            ..RunOutcome::default()
        };
        observer.begins(queue.len(), planned);
        let conducted = Instant::now();
        let mut trials = queue.len();
        self.run_queue(queue, &mut figures, &mut outcome, observer)?;
        let Some(adaptive) = &plan.adaptive else {
            return Ok(outcome);
        };
        let mut open: BTreeSet<CellId> = plan.cells().map(|cell| cell.id).collect();
        for (repeat, block) in (plan.repeats..=adaptive.repeats_max).zip(blocks) {
            if outcome.missing > 0 || self.control.is_stopping() {
                break;
            }
            let known = figures.iter().flat_map(|it| it.cells(repeat));
            let known: Vec<_> = known.filter(|cell| open.contains(&cell.cell)).collect();
            open = known
                .iter()
                .filter(|cell| cell.precision.is_open() && repeat < adaptive.repeats_max)
                .map(|cell| cell.cell)
                .collect();
            let block = block
                .into_iter()
                .filter(|(_, trial)| open.contains(&trial.cell));
            let block: Vec<_> = block.collect();
            let wanted = block.len();
            let queue = self.queue(block, &done);
            outcome.kept += wanted - queue.len();
            let elapsed = (self.began.elapsed(), conducted.elapsed());
            if exceeds_budget(adaptive, elapsed, (trials, queue.len())) {
                observer.budget_ends();
                break;
            }
            observer.block_begins(&known, queue.len());
            if open.is_empty() {
                break;
            }
            trials += queue.len();
            self.run_queue(queue, &mut figures, &mut outcome, observer)?;
        }
        Ok(outcome)
    }

    /// Figures of the stored records, for adaptive repeats.
    fn figures_so_far(&self) -> Result<Option<Figures<'a>>, ConductorError> {
        let header = self.header;
        let Some(adaptive) = &header.plan.adaptive else {
            return Ok(None);
        };
        let mut figures = Figures::new(&header.plan, adaptive);
        let so_far = self.store.metrics(&RunSelector::from(header.run.clone()))?;
        so_far.trials.iter().for_each(|trial| figures.add(trial));
        Ok(Some(figures))
    }

    /// The trials of `order` without a record.
    fn queue(
        &self,
        order: Vec<(u32, TrialId)>,
        done: &BTreeSet<TrialId>,
    ) -> VecDeque<TrialRequest> {
        let order = order.into_iter();
        let left = order.filter(|(_, trial)| !done.contains(trial));
        let job = |(position, trial): (u32, TrialId)| {
            let (run, plan) = (&self.header.run, &self.header.plan);
            trial_request(run, plan, self.allow_commands, position, trial)
        };
        left.filter_map(job).collect()
    }

    /// Runs the trials of `queue`; those not started are counted as missing.
    fn run_queue(
        &mut self,
        queue: VecDeque<TrialRequest>,
        figures: &mut Option<Figures>,
        outcome: &mut RunOutcome,
        observer: &mut dyn Observer,
    ) -> Result<(), ConductorError> {
        let (workers, queue) = (self.jobs.get().min(queue.len()), Mutex::new(queue));
        let executor = self.executor;
        let control = self.control;
        let finished = thread::scope(|scope| {
            let (sender, messages) = mpsc::channel();
            for slot in 0..workers {
                let (sender, queue) = (sender.clone(), &queue);
                scope.spawn(move || work(executor, control, queue, slot, &sender));
            }
            // The channel closes when the last worker ends.
            drop(sender);
            self.listen(&messages, figures, outcome, observer)
        });
        let left = queue.into_inner().expect("no worker panics with the queue");
        outcome.missing += left.len();
        finished?;
        match self.executor.lost() {
            Some(failure) => {
                let mut failure = failure.clone();
                failure.hint.get_or_insert_with(|| RESUME_HINT.to_owned());
                Err(ConductorError::Lost(failure))
            }
            None => Ok(()),
        }
    }

    /// Stores the workers' records until the last worker ends.
    fn listen(
        &mut self,
        messages: &Receiver<Message>,
        figures: &mut Option<Figures>,
        outcome: &mut RunOutcome,
        observer: &mut dyn Observer,
    ) -> Result<(), ConductorError> {
        let plan = &self.header.plan;
        for message in messages {
            match message {
                Message::Begins(trial) => {
                    if let Some(subject) = plan.subject(trial.cell) {
                        observer.trial_begins(trial, subject);
                    }
                }
                Message::Event(trial, event) => observer.event(trial, &event),
                Message::Ends(record, stored) => {
                    match &record.outcome {
                        // Not a result: a resumed run repeats it. A trial interrupted without a
                        // stop request to this run has failed.
                        TrialOutcome::Failed { failure }
                            if failure.kind == FailureKind::Interrupted
                                && self.control.is_stopping() =>
                        {
                            outcome.missing += 1;
                            let _ = stored.send(());
                            continue;
                        }
                        // It never started, through no fault of its subject.
                        TrialOutcome::Failed { failure }
                            if self.executor.lost().is_some_and(|lost| lost == failure) =>
                        {
                            outcome.missing += 1;
                            let _ = stored.send(());
                            continue;
                        }
                        // The host's failure is no result of the subject; a resumed run repeats
                        // the trial.
                        TrialOutcome::Failed { failure } if failure.kind == FailureKind::Host => {
                            outcome.missing += 1;
                            observer.trial_ends(&record);
                            let _ = stored.send(());
                            continue;
                        }
                        TrialOutcome::Failed { .. } => outcome.failed += 1,
                        TrialOutcome::Done => outcome.done += 1,
                    }
                    self.store.add_trial(&self.header.run, &record)?;
                    figures.iter_mut().for_each(|figures| figures.add(&record));
                    observer.trial_ends(&record);
                    let _ = stored.send(());
                }
            }
        }
        Ok(())
    }
}

/// Whether a block of so many trials would probably end after the budget, of which the first time
/// has `elapsed`, to judge by the second, which the trials before took. Unknown durations do not
/// exceed it.
fn exceeds_budget(
    adaptive: &Adaptive,
    elapsed: (Duration, Duration),
    (before, block): (usize, usize),
) -> bool {
    let Some(budget_s) = adaptive.budget_s else {
        return false;
    };
    let block_s = elapsed.1.as_secs_f64() / before.max(1) as f64 * block as f64;
    elapsed.0.as_secs_f64() + block_s > f64::from(budget_s)
}

/// Runs trials of the queue until it is empty, a stop is requested, or a record was not stored.
fn work(
    executor: &dyn Executor,
    control: &Control,
    queue: &Mutex<VecDeque<TrialRequest>>,
    slot: usize,
    sender: &Sender<Message>,
) {
    while !control.is_stopping() && executor.lost().is_none() && executor.is_ready(slot) {
        let next = queue
            .lock()
            .expect("no worker panics with the queue")
            .pop_front();
        let Some(request) = next else {
            return;
        };
        let trial = request.task.trial;
        let _ = sender.send(Message::Begins(trial));
        let request = TrialRequest { slot, ..request };
        let record = executor.run_trial(&request, control, &mut |event| {
            let _ = sender.send(Message::Event(trial, event.clone()));
        });
        let (stored, is_stored) = mpsc::channel();
        let _ = sender.send(Message::Ends(Box::new(record), stored));
        if is_stored.recv().is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_that_would_end_after_the_budget_is_not_begun() {
        let of = |budget_s, elapsed_s, trials| {
            let adaptive = Adaptive {
                repeats_max: 30,
                target: Adaptive::TARGET,
                key: Vec::new(),
                until_decided: true,
                budget_s,
            };
            let elapsed = Duration::from_secs(elapsed_s);
            exceeds_budget(&adaptive, (elapsed, elapsed), trials)
        };
        // Six trials took 60 s: four more take 40 s.
        assert!(!of(Some(100), 60, (6, 4)));
        assert!(of(Some(99), 60, (6, 4)));
        assert!(!of(None, 10_000, (6, 4)));
        assert!(!of(Some(100), 60, (6, 0)), "nothing is left to run");
        assert!(!of(Some(100), 0, (0, 4)), "all was run before: resumed");
    }
}
