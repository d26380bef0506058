//! The conductor: trials in their order, each record stored the moment it arrives.
//!
//! ```text
//!     blocks 0 .. least     all cells, in one go
//!     block least ..        where cells are repeated until they are known: one block at a time, of
//!                           the cells that by their repeats before it are not
//! ```
//! Whether a cell has a place in a block depends on its records of earlier blocks and on nothing
//! else: a run that was interrupted goes on as it would have gone on.

use std::collections::{BTreeSet, VecDeque};
use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::Duration;

use fslab_model::{
    CellId, Event, Failure, FailureKind, Plan, RunHeader, SubjectPlan, TrialId, TrialOutcome,
    TrialRecord, TrialTask,
};
use fslab_store::{RunSelector, Store, StoreError};
use fslab_venue::{Control, TrialRequest, Venue};

use crate::order::{self, Blocks};
use crate::precision::{CellPrecision, Figures};

/// Sees a run go by. Every method may do nothing.
pub trait Observer {
    /// Trials that are to be run now, of all that the plan has.
    fn begins(&mut self, _to_run: usize, _of: usize) {}
    /// A trial begins.
    fn trial_begins(&mut self, _trial: TrialId, _subject: &SubjectPlan) {}
    /// A trial says something.
    fn event(&mut self, _trial: TrialId, _event: &Event) {}
    /// A trial has left its record, and it is stored.
    fn trial_ends(&mut self, _record: &TrialRecord) {}
    /// How well each cell is known that had a place in the block before, and how many trials of the
    /// next block are to be run now.
    fn block_begins(&mut self, _cells: &[CellPrecision], _to_run: usize) {}
}

/// How a run ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Trials that this run did without a failure.
    pub done: usize,
    /// Trials that failed.
    pub failed: usize,
    /// Trials that were done before, by the run that is resumed.
    pub kept: usize,
    /// Trials that were not begun or not finished because somebody asked to stop.
    pub missing: usize,
}

/// What to do about a lost device.
const RESUME_HINT: &str =
    "reconnect the device and repeat the command with --resume: it runs the missing trials";

/// Why a run cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum ConductorError {
    /// The store does not take a record.
    #[error("cannot keep the record of a trial")]
    Store(#[from] StoreError),
    /// The device that all trials share is gone, is another one, or hangs.
    #[error("cannot go on without the device")]
    Lost(Failure),
}

/// A run that is about to be made. Its header is in the store already.
pub struct Conductor<'a> {
    /// What is known of the run.
    pub header: &'a RunHeader,
    /// Where records go.
    pub store: &'a mut Store,
    /// Where trials run.
    pub venue: &'a Venue,
    /// How it is stopped.
    pub control: &'a Control,
    /// Trials at a time: more than one only where they cannot disturb each other.
    pub jobs: NonZeroUsize,
    /// Whether trials may start programs that the study names.
    pub allow_commands: bool,
}

/// What a worker tells.
enum Message {
    Begins(TrialId),
    Said(TrialId, Event),
    /// The worker waits until its record is stored: no trial is disturbed by the store.
    Ends(Box<TrialRecord>, Sender<()>),
}

impl<'a> Conductor<'a> {
    /// Runs every trial of the plan that is not done yet.
    ///
    /// # Errors
    /// Where a record cannot be stored: then going on would be for nothing.
    pub fn run(&mut self, observer: &mut dyn Observer) -> Result<Outcome, ConductorError> {
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
        let mut outcome = Outcome {
            kept: planned - queue.len(),
            ..Outcome::default()
        };
        observer.begins(queue.len(), planned);
        self.work_off(queue, &mut figures, &mut outcome, observer)?;
        let Some(adaptive) = &plan.adaptive else {
            return Ok(outcome);
        };
        let mut open: BTreeSet<CellId> = plan.cells().map(|cell| cell.id).collect();
        for (repeat, block) in (plan.repeats..=adaptive.repeats_max).zip(blocks) {
            if outcome.missing > 0 || self.control.is_stopping() {
                break;
            }
            let known = figures.iter().flat_map(|it| it.standings(repeat));
            let known: Vec<_> = known.filter(|cell| open.contains(&cell.cell)).collect();
            open = known
                .iter()
                .filter(|cell| cell.standing.is_open() && repeat < adaptive.repeats_max)
                .map(|cell| cell.cell)
                .collect();
            let block = block
                .into_iter()
                .filter(|(_, trial)| open.contains(&trial.cell));
            let block: Vec<_> = block.collect();
            let wanted = block.len();
            let queue = self.queue(block, &done);
            outcome.kept += wanted - queue.len();
            observer.block_begins(&known, queue.len());
            if open.is_empty() {
                break;
            }
            self.work_off(queue, &mut figures, &mut outcome, observer)?;
        }
        Ok(outcome)
    }

    /// What the records say that are there already, where it decides what is still to be run.
    fn figures_so_far(&self) -> Result<Option<Figures<'a>>, ConductorError> {
        let header = self.header;
        let Some(adaptive) = &header.plan.adaptive else {
            return Ok(None);
        };
        let mut figures = Figures::new(&header.plan, adaptive);
        let so_far = self.store.run(&RunSelector::from(header.run.clone()))?;
        so_far.trials.iter().for_each(|trial| figures.add(trial));
        Ok(Some(figures))
    }

    /// The trials of `order` that are not done yet.
    fn queue(
        &self,
        order: Vec<(u32, TrialId)>,
        done: &BTreeSet<TrialId>,
    ) -> VecDeque<TrialRequest> {
        let order = order.into_iter();
        let left = order.filter(|(_, trial)| !done.contains(trial));
        let job = |(position, trial): (u32, TrialId)| {
            let subject = self.header.plan.subject(trial.cell)?;
            Some(self.request(position, trial, subject))
        };
        left.filter_map(job).collect()
    }

    /// Runs the trials of `queue`, and counts those that were left as missing.
    fn work_off(
        &mut self,
        queue: VecDeque<TrialRequest>,
        figures: &mut Option<Figures>,
        outcome: &mut Outcome,
        observer: &mut dyn Observer,
    ) -> Result<(), ConductorError> {
        let (workers, queue) = (self.jobs.get().min(queue.len()), Mutex::new(queue));
        let venue = self.venue;
        let control = self.control;
        let finished = thread::scope(|scope| {
            let (sender, messages) = mpsc::channel();
            for slot in 0..workers {
                let (sender, queue) = (sender.clone(), &queue);
                scope.spawn(move || work(venue, control, queue, slot, &sender));
            }
            // The channel closes with the last worker.
            drop(sender);
            self.listen(&messages, figures, outcome, observer)
        });
        let left = queue.into_inner().expect("no worker panics with the queue");
        outcome.missing += left.len();
        finished?;
        match self.venue.lost() {
            Some(failure) => {
                let mut failure = failure.clone();
                failure.hint.get_or_insert_with(|| RESUME_HINT.to_owned());
                Err(ConductorError::Lost(failure))
            }
            None => Ok(()),
        }
    }

    /// Stores what the workers bring until the last of them is done.
    fn listen(
        &mut self,
        messages: &Receiver<Message>,
        figures: &mut Option<Figures>,
        outcome: &mut Outcome,
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
                Message::Said(trial, event) => observer.event(trial, &event),
                Message::Ends(record, stored) => {
                    match &record.outcome {
                        // Not a result: the next run with --resume makes it. A trial that somebody
                        // else interrupted, while nobody asked the run to stop, has failed.
                        TrialOutcome::Failed { failure }
                            if failure.kind == FailureKind::Interrupted
                                && self.control.is_stopping() =>
                        {
                            outcome.missing += 1;
                            let _ = stored.send(());
                            continue;
                        }
                        // It never began, and is no fault of its subject.
                        TrialOutcome::Failed { failure }
                            if self.venue.lost().is_some_and(|lost| lost == failure) =>
                        {
                            outcome.missing += 1;
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

    fn request(&self, position: u32, trial: TrialId, subject: &SubjectPlan) -> TrialRequest {
        let plan: &Plan = &self.header.plan;
        let (seed, perturbation) = order::of_repeat(plan, trial.repeat);
        TrialRequest {
            run: self.header.run.clone(),
            task: TrialTask {
                trial,
                subject: subject.subject.clone(),
                size_bytes: plan.size_bytes,
                cold: plan.cold,
                engine: plan.engine.clone(),
                phases: plan.phases.clone(),
                rounds: plan.rounds,
                required_facts: plan.required_facts.clone(),
                seed,
                perturbation,
                allow_commands: self.allow_commands,
            },
            limit: Duration::from_secs(u64::from(plan.trial_limit_s)),
            slot: 0,
            position,
        }
    }
}

/// Runs trials of the queue until it is empty, somebody asks to stop, or a record was not stored.
fn work(
    venue: &Venue,
    control: &Control,
    queue: &Mutex<VecDeque<TrialRequest>>,
    slot: usize,
    sender: &Sender<Message>,
) {
    while !control.is_stopping() && venue.lost().is_none() {
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
        let record = venue.run_trial(&request, control, |event| {
            let _ = sender.send(Message::Said(trial, event.clone()));
        });
        let (stored, is_stored) = mpsc::channel();
        let _ = sender.send(Message::Ends(Box::new(record), stored));
        if is_stored.recv().is_err() {
            return;
        }
    }
}
