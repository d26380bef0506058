//! Who runs the trials of a run: this process in a venue, or workers elsewhere.

use std::time::Duration;

use fslab_model::{Event, Failure, Plan, RunId, TrialId, TrialRecord, TrialTask};
use fslab_venue::{Control, TrialRequest, Venue};

use crate::order;

/// Runs single trials for the conductor, several at a time.
pub trait Executor: Sync {
    /// Runs a trial to its end, whether it succeeds or fails. A failure of kind `Host` is no result
    /// of the trial: a resumed run repeats it.
    fn run_trial(
        &self,
        request: &TrialRequest,
        control: &Control,
        on_event: &mut dyn FnMut(&Event),
    ) -> TrialRecord;

    /// Why no further trial can run; `None` while one can.
    fn lost(&self) -> Option<&Failure>;

    /// Whether the trials of this slot can still run; those of others may.
    fn is_ready(&self, _slot: usize) -> bool {
        true
    }
}

impl Executor for Venue {
    fn run_trial(
        &self,
        request: &TrialRequest,
        control: &Control,
        on_event: &mut dyn FnMut(&Event),
    ) -> TrialRecord {
        Venue::run_trial(self, request, control, on_event)
    }

    fn lost(&self) -> Option<&Failure> {
        Venue::lost(self)
    }
}

/// The request for a trial of a plan; `None` if the plan has no such cell.
pub fn trial_request(
    run: &RunId,
    plan: &Plan,
    allow_commands: bool,
    position: u32,
    trial: TrialId,
) -> Option<TrialRequest> {
    let subject = plan.subject(trial.cell)?;
    let (seed, perturbation) = order::of_repeat(plan, trial.repeat);
    Some(TrialRequest {
        run: run.clone(),
        task: TrialTask {
            trial,
            subject: subject.subject.clone(),
            size_bytes: plan.size_bytes,
            cold: plan.cold,
            cold_after_s: plan.cold_after_s,
            dirty_limit_bytes: plan.dirty_limit_bytes,
            engine: plan.engine.clone(),
            phases: plan.phases.clone(),
            rounds: plan.rounds,
            required_facts: plan.required_facts.clone(),
            seed,
            perturbation,
            allow_commands,
        },
        limit: Duration::from_secs(u64::from(plan.trial_limit_s)),
        slot: 0,
        position,
    })
}
