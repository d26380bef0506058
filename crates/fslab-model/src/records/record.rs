//! The record of a trial, built from its events.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{DeviceInsight, Event, EventBody, Facts, Failure, FailureKind, KernelMessage};
use crate::{
    Perturbation, PhaseOutcome, PhaseRecord, StepRecord, Subject, SurvivalOutcome, TrialId,
};

/// How a trial ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub enum TrialOutcome {
    /// All phases ran, or were skipped for a stated reason.
    Done,
    /// Something failed; earlier completed phases keep their figures.
    Failed {
        /// The first failure.
        failure: Failure,
    },
}

/// The record of a trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrialRecord {
    /// Which trial.
    pub trial: TrialId,
    /// The subject.
    pub subject: Subject,
    /// The perturbation of its guest.
    #[serde(default, skip_serializing_if = "Perturbation::is_none")]
    pub perturbation: Perturbation,
    /// Its position in the order of trials, from 0.
    pub position: u32,
    /// Start in seconds since 1970.
    pub started_unix_s: u64,
    /// Wall-clock duration of the trial's process.
    pub elapsed_ns: u64,
    /// How it ended.
    #[serde(flatten)]
    pub outcome: TrialOutcome,
    /// mkfs, mount, unmount, check.
    pub steps: Vec<StepRecord>,
    /// The phases.
    pub phases: Vec<PhaseRecord>,
    /// Versions, settings, the recognised file system.
    pub facts: Facts,
    /// What the trial's process printed on standard error, shortened to its last lines.
    pub console: String,
    /// The simulated disk's work from the first request to the last, mkfs and unmount included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub insight: Option<DeviceInsight>,
    /// Kernel messages about the device, shortened.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kernel_log: Vec<KernelMessage>,
    /// What is left of the subject's disk after a power loss, judged after the trial; `None` if
    /// that was not asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub survival: Option<SurvivalOutcome>,
}

/// The result of a trial's events.
#[derive(Clone, Debug, PartialEq)]
pub struct TrialReport {
    /// How it ended.
    pub outcome: TrialOutcome,
    /// mkfs, mount, unmount, check.
    pub steps: Vec<StepRecord>,
    /// The phases.
    pub phases: Vec<PhaseRecord>,
    /// Versions, settings, the recognised file system.
    pub facts: Facts,
    /// Kernel messages about the device.
    pub kernel_log: Vec<KernelMessage>,
}

/// The facts about a trial outside its events.
#[derive(Clone, Debug, PartialEq)]
pub struct TrialRun {
    /// Which trial.
    pub trial: TrialId,
    /// The subject.
    pub subject: Subject,
    /// The perturbation of its guest.
    pub perturbation: Perturbation,
    /// Its position in the order of trials, from 0.
    pub position: u32,
    /// Start in seconds since 1970.
    pub started_unix_s: u64,
    /// Wall-clock duration of the trial's process; 0 if none was started.
    pub elapsed_ns: u64,
    /// The last lines of its standard error.
    pub console: String,
}

impl TrialReport {
    /// The record of `run`.
    pub fn into_record(self, run: TrialRun) -> TrialRecord {
        TrialRecord {
            trial: run.trial,
            subject: run.subject,
            perturbation: run.perturbation,
            position: run.position,
            started_unix_s: run.started_unix_s,
            elapsed_ns: run.elapsed_ns,
            outcome: self.outcome,
            steps: self.steps,
            phases: self.phases,
            facts: self.facts,
            console: run.console,
            insight: None,
            kernel_log: self.kernel_log,
            survival: None,
        }
    }
}

/// Builds a trial's report from its events, for any end of the trial.
#[derive(Clone, Debug, Default)]
pub struct RecordBuilder {
    greeted: bool,
    ended: bool,
    current_step: Option<String>,
    steps: Vec<StepRecord>,
    phases: Vec<PhaseRecord>,
    facts: Facts,
    failure: Option<Failure>,
    kernel_log: Vec<KernelMessage>,
}

impl RecordBuilder {
    /// Takes the next event.
    pub fn push(&mut self, event: Event) {
        match event.body {
            EventBody::Hello { fslab, .. } => {
                self.greeted = true;
                self.facts.insert("fslab".into(), fslab);
            }
            EventBody::Facts { facts } => self.facts.extend(facts),
            EventBody::StepStarted { step } => self.current_step = Some(step),
            EventBody::Step(step) => {
                self.current_step = None;
                self.steps.push(step);
            }
            EventBody::Phase(phase) => {
                self.current_step = None;
                if let PhaseOutcome::Failed { failure } = &phase.outcome {
                    self.failure.get_or_insert_with(|| failure.clone());
                }
                self.phases.push(*phase);
            }
            EventBody::Kernel { messages } => self.kernel_log.extend(messages),
            EventBody::Withdrawn { from, failure } => {
                let suspects = self.phases.iter_mut().skip(from);
                suspects.for_each(|phase| phase.withdraw(&failure));
                self.failure.get_or_insert(failure);
            }
            EventBody::Failed { failure } => {
                self.failure.get_or_insert(failure);
            }
            EventBody::End => self.ended = true,
        }
    }

    /// The step in progress, or the phase that failed last; `None` between steps.
    pub fn place(&self) -> Option<&str> {
        let failed = |phase: &&PhaseRecord| matches!(phase.outcome, PhaseOutcome::Failed { .. });
        let failed_last = || {
            self.phases
                .iter()
                .rev()
                .find(failed)
                .map(|phase| &*phase.name)
        };
        self.current_step.as_deref().or_else(failed_last)
    }

    /// True if the trial ended without an interruption.
    pub fn has_ended_undisturbed(&self) -> bool {
        let interrupted = |failure: &Failure| failure.kind == FailureKind::Interrupted;
        self.ended && !self.failure.as_ref().is_some_and(interrupted)
    }

    /// The report. `death` is why the process ended abnormally; it overrides the trial's last
    /// failure, which is often its consequence.
    pub fn finish(mut self, death: Option<Failure>) -> TrialReport {
        if let Some(death) = death {
            self.failure = Some(death);
        } else if !self.greeted || !self.ended {
            self.failure.get_or_insert_with(|| {
                Failure::new(
                    FailureKind::Protocol,
                    "the trial's process ended without its last event",
                )
            });
        }
        TrialReport {
            outcome: self
                .failure
                .map_or(TrialOutcome::Done, |failure| TrialOutcome::Failed {
                    failure,
                }),
            steps: self.steps,
            phases: self.phases,
            facts: self.facts,
            kernel_log: self.kernel_log,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finish(bodies: Vec<EventBody>, death: Option<Failure>) -> TrialReport {
        let mut builder = RecordBuilder::default();
        bodies
            .into_iter()
            .for_each(|body| builder.push(Event { at_ns: 0, body }));
        builder.finish(death)
    }

    fn hello() -> EventBody {
        EventBody::Hello {
            format: 1,
            fslab: "0".into(),
        }
    }

    #[test]
    fn a_trial_that_says_hello_and_end_is_done() {
        assert_eq!(
            finish(vec![hello(), EventBody::End], None).outcome,
            TrialOutcome::Done
        );
    }

    #[test]
    fn a_trial_without_its_last_event_is_a_failure() {
        let record = finish(vec![hello()], None);
        let TrialOutcome::Failed { failure } = record.outcome else {
            panic!("must fail")
        };
        assert_eq!(failure.kind, FailureKind::Protocol);
    }

    #[test]
    fn the_cause_of_death_outranks_what_the_trial_said() {
        let said = EventBody::Failed {
            failure: Failure::new(FailureKind::Io, "write failed"),
        };
        let death = Failure::new(FailureKind::Timeout, "over its limit");
        let record = finish(vec![hello(), said, EventBody::End], Some(death.clone()));
        assert_eq!(record.outcome, TrialOutcome::Failed { failure: death });
    }

    fn phase(name: &str) -> EventBody {
        let spec = crate::PhaseSpec::new(name, "write", crate::Parameters::new());
        let (kind, headline) = (crate::PhaseKind::Write, crate::Headline::Throughput);
        let mut record = PhaseRecord::empty(&spec, kind, headline, PhaseOutcome::Done);
        record.elapsed_ns = Some(1_000);
        record.bytes = Some(1 << 30);
        EventBody::Phase(Box::new(record))
    }

    /// A device on which every write failed gave 1.29 GB/s in a completed trial: the error came
    /// long after the phase was reported.
    #[test]
    fn phases_whose_writes_were_lost_have_no_figures_and_those_before_keep_theirs() {
        let lost = Failure::new(FailureKind::Io, "lost");
        let withdrawn = EventBody::Withdrawn {
            from: 1,
            failure: lost.clone(),
        };
        let bodies = vec![
            hello(),
            phase("a"),
            phase("b"),
            phase("c"),
            withdrawn,
            EventBody::End,
        ];
        let record = finish(bodies, None);
        let failed = PhaseOutcome::Failed {
            failure: lost.clone(),
        };
        assert_eq!(record.outcome, TrialOutcome::Failed { failure: lost });
        assert_eq!(record.phases[0].outcome, PhaseOutcome::Done);
        assert!(record.phases[0].bytes.is_some());
        for phase in &record.phases[1..] {
            assert_eq!(phase.outcome, failed);
            assert_eq!((phase.bytes, phase.elapsed_ns), (None, None));
            assert!(crate::phase_metrics(phase).is_empty());
        }
    }

    #[test]
    fn events_are_one_json_line_each_and_read_back() {
        let step = StepRecord {
            step: "mkfs".into(),
            command: vec!["mkfs.ext4".into()],
            elapsed_ns: 5,
            exit_code: Some(0),
            output: "a\nb".into(),
        };
        let event = Event {
            at_ns: 12,
            body: EventBody::Step(step),
        };
        let line = serde_json::to_string(&event).expect("serialises");
        assert!(!line.contains('\n'));
        assert_eq!(serde_json::from_str::<Event>(&line).expect("reads"), event);
    }
}
