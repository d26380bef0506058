//! The conductor: trials in their order, each record stored the moment it arrives.

use std::time::Duration;

use fslab_model::{
    Event, FORMAT_VERSION, FailureKind, Plan, RunHeader, SubjectPlan, TrialId, TrialOutcome,
    TrialRecord, TrialSpec,
};
use fslab_store::{Store, StoreError};
use fslab_venue::{Control, TrialRequest, Venue};

use crate::order;

/// Sees a run go by. Every method may do nothing.
pub trait Observer {
    /// Trials that are to be run now, of all that the plan has.
    fn begins(&mut self, _to_run: usize, _of: usize) {}
    /// A trial begins.
    fn trial_begins(&mut self, _trial: TrialId, _subject: &SubjectPlan) {}
    /// The trial says something.
    fn event(&mut self, _event: &Event) {}
    /// A trial has left its record, and it is stored.
    fn trial_ends(&mut self, _record: &TrialRecord) {}
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

/// Why a run cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum ConductorError {
    /// The store does not take a record.
    #[error("cannot keep the record of a trial")]
    Store(#[from] StoreError),
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
}

impl Conductor<'_> {
    /// Runs every trial of the plan that is not done yet.
    ///
    /// # Errors
    /// Where a record cannot be stored: then going on would be for nothing.
    pub fn run(&mut self, observer: &mut dyn Observer) -> Result<Outcome, ConductorError> {
        let plan = &self.header.plan;
        let cells = u32::try_from(plan.subjects.len()).unwrap_or(u32::MAX);
        let order = order::shuffled(cells, plan.repeats, plan.seed);
        let done = self.store.done_trials(&self.header.run)?;
        let mut outcome = Outcome::default();
        let planned = order.len();
        let mut queue = Vec::new();
        for (position, trial) in (0..).zip(order) {
            if done.contains(&trial) {
                outcome.kept += 1;
            } else {
                queue.push((position, trial));
            }
        }
        observer.begins(queue.len(), planned);
        for (index, (position, trial)) in queue.iter().enumerate() {
            if self.control.is_stopping() {
                outcome.missing += queue.len() - index;
                break;
            }
            let Some(subject) = plan.subject(trial.cell) else {
                continue;
            };
            observer.trial_begins(*trial, subject);
            let request = self.request(*trial, subject);
            let mut record = self
                .venue
                .run_trial(request, self.control, |event| observer.event(event));
            record.position = *position;
            match &record.outcome {
                // Not a result: the next run with --resume makes it. A trial that somebody else
                // interrupted, while nobody asked the run to stop, has failed.
                TrialOutcome::Failed { failure }
                    if failure.kind == FailureKind::Interrupted && self.control.is_stopping() =>
                {
                    outcome.missing += 1;
                    continue;
                }
                TrialOutcome::Failed { .. } => outcome.failed += 1,
                TrialOutcome::Done => outcome.done += 1,
            }
            self.store.add_trial(&self.header.run, &record)?;
            observer.trial_ends(&record);
        }
        Ok(outcome)
    }

    fn request(&self, trial: TrialId, subject: &SubjectPlan) -> TrialRequest {
        let plan: &Plan = &self.header.plan;
        TrialRequest {
            run: self.header.run.clone(),
            spec: TrialSpec {
                format: FORMAT_VERSION,
                trial,
                subject: subject.subject.clone(),
                // The venue puts its own here.
                device: fslab_model::DeviceSpec::Fake,
                size_bytes: plan.size_bytes,
                cold: plan.cold,
                engine: plan.engine.clone(),
                phases: plan.phases.clone(),
                seed: order::trial_seed(plan.seed, trial.repeat),
                host_folder: None,
                counter_hz: None,
            },
            limit: Duration::from_secs(u64::from(plan.trial_limit_s)),
        }
    }
}
