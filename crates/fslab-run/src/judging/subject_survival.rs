//! What a power loss leaves of each subject of a run, judged apart from its figures.
//!
//! ```text
//!     trial --> record
//!     scripts on the same disk, recorded --> log --> states, judged in a guest --> record.survival
//! ```

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use fslab_crash::{Budget, Examination, PromisedBy, Promises, StateChoice};
use fslab_model::{
    Bytes, Event, EventBody, Failure, FailureKind, PhaseSpec, Plan, Rounds, Scale, SimulatedDisk,
    SurvivalOutcome, SurvivalPlan, TrialOutcome, TrialRecord, VenuePlan,
};
use fslab_venue::{
    Control, GuestSettings, KeptLogs, LogKeeping, STATE_LIMIT, StateJudgeSettings, TrialRequest,
    Venue, VenueSettings, examine,
};

use crate::Request;
use crate::executor::Executor;
use crate::phases::{self, PhasesError, PlannedSize};
use crate::studies::load_study;

/// The workload whose operations states are compared with.
const SCRIPT: &str = "script";
/// The parameter of a database whose commits are.
const LISTS_COMMITS: &str = "list_commits";
/// The study whose scripts are done for a study without any.
const STUDY: &str = "survival";
/// Chooses among more states than are judged.
const SAMPLE_SEED: u64 = 1;

/// What is judged of each subject: the scripts of its study, or those of the built-in one.
pub(crate) fn planned(
    request: &Request,
    phases: &[PhaseSpec],
    size: Bytes,
) -> Result<Option<SurvivalPlan>, PhasesError> {
    let Some(states) = request.survival else {
        return Ok(None);
    };
    let is_judged = |phase: &&PhaseSpec| {
        phase.workload == SCRIPT || phase.parameters.contains_key(LISTS_COMMITS)
    };
    let scripts: Vec<PhaseSpec> = phases.iter().filter(is_judged).cloned().collect();
    if !scripts.is_empty() {
        return Ok(Some(SurvivalPlan {
            study: request.study.name.clone(),
            phases: scripts,
            states,
        }));
    }
    let (built_in, _) = load_study(STUDY).expect("a built-in study");
    Ok(Some(SurvivalPlan {
        phases: phases::phases(&built_in, Scale::FULL, PlannedSize::full(size))?,
        study: built_in.name,
        states,
    }))
}

/// A disk that can be recorded.
struct Recordable<'a> {
    disk: &'a SimulatedDisk,
    /// The memory of its guest.
    memory: Bytes,
    /// The directory of images.
    folder: &'a Path,
}

fn recordable(venue: &VenuePlan) -> Result<Recordable<'_>, Failure> {
    match venue {
        VenuePlan::Sim {
            disk,
            memory_bytes,
            machine: None,
            folder,
            ..
        } => Ok(Recordable {
            disk,
            memory: *memory_bytes,
            folder,
        }),
        _ => {
            let text = "`--survival` works only with simulated disks";
            Err(Failure::new(FailureKind::BadInput, text).hint("use --venue sim without --machine"))
        }
    }
}

/// Refuses a plan whose disks cannot be judged as it asks for.
///
/// # Errors
/// A [`Failure`] for another venue than sim, or with a counted machine.
pub fn ensure_recordable(plan: &Plan) -> Result<(), Failure> {
    match &plan.survival {
        Some(_) => recordable(&plan.venue).map(drop),
        None => Ok(()),
    }
}

/// Runs trials as `inner` does, and judges after the first trial of each subject what a power loss
/// leaves of its disk.
pub struct SurvivalJudge<'a> {
    inner: &'a dyn Executor,
    plan: &'a SurvivalPlan,
    venue: Venue,
    logs: Arc<KeptLogs>,
    settings: VenueSettings,
    disk: Recordable<'a>,
}

impl<'a> SurvivalJudge<'a> {
    /// The judge of `plan`; `None` if nothing is to be judged.
    ///
    /// # Errors
    /// A [`Failure`] for another venue than sim, or with a counted machine, and those of
    /// [`Venue::open`].
    pub fn of(
        plan: &'a Plan,
        inner: &'a dyn Executor,
        mut settings: VenueSettings,
    ) -> Result<Option<Self>, Failure> {
        let Some(survival) = &plan.survival else {
            return Ok(None);
        };
        let disk = recordable(&plan.venue)?;
        let logs = Arc::new(KeptLogs::default());
        settings.record_disk = Some(LogKeeping::Memory(Arc::clone(&logs)));
        let venue = Venue::open(&plan.venue, plan.size_bytes, settings.clone())?;
        Ok(Some(Self {
            inner,
            plan: survival,
            venue,
            logs,
            settings,
            disk,
        }))
    }

    /// What is left of the subject of a trial; `None` if a stop was requested.
    fn survival(
        &self,
        request: &TrialRequest,
        control: &Control,
        on_event: &mut dyn FnMut(&Event),
    ) -> Option<SurvivalOutcome> {
        match self.judged(request, control, on_event) {
            Ok(outcome) => outcome,
            Err(_) if control.is_stopping() => None,
            Err(failure) => Some(SurvivalOutcome::Failed { failure }),
        }
    }

    fn judged(
        &self,
        request: &TrialRequest,
        control: &Control,
        on_event: &mut dyn FnMut(&Event),
    ) -> Result<Option<SurvivalOutcome>, Failure> {
        let mut begins = |step: &str| {
            let body = EventBody::StepStarted { step: step.into() };
            on_event(&Event { at_ns: 0, body });
        };
        let subject = &request.task.subject;
        fslab_trial::ensure_judgeable(subject)?;
        begins("scripts");
        let mut scripts = request.clone();
        scripts.task.phases.clone_from(&self.plan.phases);
        scripts.task.rounds = Rounds::default();
        let record = self.venue.run_trial(&scripts, control, |_| {});
        // Taken also if the trial has failed after it was kept.
        let log = self.logs.take(request.task.trial);
        if let TrialOutcome::Failed { failure } = record.outcome {
            return Err(failure);
        }
        let log = log.ok_or_else(|| {
            Failure::new(
                FailureKind::Device,
                "the disk of the scripts was not recorded",
            )
        })?;
        let choice = StateChoice {
            phase: None,
            cache: None,
            budget: Budget {
                states: self.plan.states,
                seed: SAMPLE_SEED,
            },
            dropped: None,
        };
        let examination = Examination::new(&log, &choice)
            .map_err(|error| Failure::new(FailureKind::BadInput, error))?;
        let guests = &self.settings.guests;
        let of_cell = request.task.trial.cell.0 as usize;
        let guest = guests.get(if guests.len() == 1 { 0 } else { of_cell });
        let guest: GuestSettings = guest
            .cloned()
            .ok_or_else(|| Failure::new(FailureKind::BadInput, "no guest kernel was chosen"))?;
        let settings = StateJudgeSettings {
            guest,
            memory: self.disk.memory,
            disk: self.disk.disk.clone(),
            subject: subject.to_string(),
            folder: self.disk.folder.to_owned(),
            leases: self.settings.leases.clone(),
            limit: STATE_LIMIT,
            slot: request.slot,
        };
        begins("crash states");
        let is_stopped = || control.is_stopping();
        let judged = examine(
            &examination,
            &BTreeMap::new(),
            &[settings],
            &is_stopped,
            &|_| {},
        )?;
        Ok(judged.map(|judged| {
            let promises = Promises::built_in();
            let by = PromisedBy::of(&promises, subject);
            let survival = Box::new(examination.survival(&judged, by));
            SurvivalOutcome::Judged { survival }
        }))
    }
}

impl Executor for SurvivalJudge<'_> {
    fn run_trial(
        &self,
        request: &TrialRequest,
        control: &Control,
        on_event: &mut dyn FnMut(&Event),
    ) -> TrialRecord {
        let mut record = self.inner.run_trial(request, control, on_event);
        if request.task.trial.repeat > 0 || record.outcome != TrialOutcome::Done {
            return record;
        }
        record.survival = self.survival(request, control, on_event);
        if record.survival.is_none() {
            // A resumed run repeats it.
            let text = "judging crash states was stopped on request";
            let failure = Failure::new(FailureKind::Interrupted, text);
            record.outcome = TrialOutcome::Failed { failure };
        }
        record
    }

    fn lost(&self) -> Option<&Failure> {
        self.inner.lost()
    }

    fn is_ready(&self, slot: usize) -> bool {
        self.inner.is_ready(slot)
    }
}
