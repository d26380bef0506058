//! Whether what a worker sends can be the record of its trial. A worker is another machine: it may
//! be broken or lie, and nothing that it sends is believed only because it arrived.

use fslab_model::{
    Event, EventBody, Failure, LAB_FACT, Plan, TrialOutcome, TrialRecord, VenueKind,
};
use fslab_venue::{ExpectedRecord, OutputBounds, TrialRequest, quoted};

use super::protocol::Assignment;

/// The engine whose times pass nowhere.
const NULL_ENGINE: &str = "null";
/// Bytes of the name of a step or of a machine.
const NAME_BYTES_MAX: usize = 4096;

/// What workers may send.
pub(super) struct Admission {
    fslab: String,
    plan: Plan,
    expected: ExpectedRecord,
}

impl Admission {
    pub(super) fn of(assignment: &Assignment) -> Result<Self, Failure> {
        let plan = assignment.plan.clone();
        let kind = plan.venue.kind();
        let is_virtual = kind.is_virtual() || kind == VenueKind::Fake || plan.engine == NULL_ENGINE;
        let expected = ExpectedRecord::of(&plan.phases, plan.rounds, plan.ranks, is_virtual)?;
        Ok(Self {
            fslab: assignment.fslab.clone(),
            plan,
            expected,
        })
    }

    pub(super) fn bounds(&self) -> OutputBounds {
        self.expected.bounds()
    }

    /// Checks the record of `request`, which took `elapsed_ns` here; an error completes `it sent a
    /// record with`.
    pub(super) fn ensure_record(
        &self,
        request: &TrialRequest,
        record: &TrialRecord,
        elapsed_ns: u64,
    ) -> Result<(), String> {
        self.expected.ensure_whole(request, record, elapsed_ns)?;
        if record.outcome != TrialOutcome::Done {
            return Ok(());
        }
        self.ensure_fact(record, "fslab", &self.fslab)?;
        let subject = self.plan.subject(record.trial.cell);
        match subject.and_then(|subject| self.plan.lab_of(subject)) {
            Some(lab) if !lab.digest.is_empty() => self.ensure_fact(record, LAB_FACT, &lab.digest),
            _ => Ok(()),
        }
    }

    fn ensure_fact(&self, record: &TrialRecord, name: &str, wanted: &str) -> Result<(), String> {
        match record.facts.get(name).map(String::as_str) {
            Some(found) if found == wanted => Ok(()),
            Some(found) => Err(format!(
                "the fact {name} = {}, which must be '{wanted}'",
                quoted(found)
            )),
            None => Err(format!("no fact {name}")),
        }
    }
}

/// Checks the event of a running trial, before it is shown.
pub(super) fn ensure_step(event: &Event) -> Result<(), String> {
    match &event.body {
        EventBody::StepStarted { step } if is_name(step) => Ok(()),
        _ => Err("an event that is not a step".to_owned()),
    }
}

/// True for a text that can be shown as a name.
pub(super) fn is_name(text: &str) -> bool {
    text.len() <= NAME_BYTES_MAX && !text.chars().any(char::is_control)
}
