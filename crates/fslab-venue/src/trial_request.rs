//! What a venue is asked to run.

use std::time::Duration;

use fslab_model::{Failure, RecordBuilder, RunId, TrialRecord, TrialRun, TrialTask};

/// A trial to run.
#[derive(Clone, Debug)]
pub struct TrialRequest {
    pub run: RunId,
    pub task: TrialTask,
    /// Its time limit.
    pub limit: Duration,
    /// Its index among the trials that run in parallel, from 0.
    pub slot: usize,
    /// Its position in the order of all trials of the run, from 0.
    pub position: u32,
}

impl TrialRequest {
    /// The record of a trial that failed before it began.
    pub fn failed(&self, started_unix_s: u64, failure: Failure) -> TrialRecord {
        let report = RecordBuilder::default().finish(Some(failure));
        report.into_record(self.ran(started_unix_s, Duration::ZERO, String::new()))
    }

    /// Each attempt has a separate name: resources of an earlier one may still be leased.
    pub(crate) fn name_of_attempt(&self) -> String {
        let process = std::process::id();
        format!("{}-{}-{process}", self.run, self.task.trial)
    }

    pub(crate) fn ran(&self, started_unix_s: u64, elapsed: Duration, console: String) -> TrialRun {
        TrialRun {
            trial: self.task.trial,
            subject: self.task.subject.clone(),
            perturbation: self.task.perturbation,
            position: self.position,
            started_unix_s,
            elapsed_ns: u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX),
            console,
        }
    }
}
