//! A run: one execution of a plan on one machine, with all that it left.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{CellId, MachineFacts, Plan, PlanHash, RunId, TrialOutcome, TrialRecord};

/// What is known of a run before its first trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunHeader {
    /// Its name.
    pub run: RunId,
    /// What was to be done, with the seed in force.
    pub plan: Plan,
    /// Hash of the plan.
    pub plan_hash: PlanHash,
    /// Version of fslab that began it.
    pub fslab: String,
    /// The machine.
    pub machine: MachineFacts,
    /// The command line, word by word.
    pub command: Vec<String>,
    /// Seconds since 1970 when it began.
    pub started_unix_s: u64,
}

/// A run with its trials: all that a report is made of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunRecord {
    /// What was known beforehand.
    #[serde(flatten)]
    pub header: RunHeader,
    /// The trials that have a record, in the order of cell and repeat.
    pub trials: Vec<TrialRecord>,
}

impl RunRecord {
    /// The trials of a cell, in the order of their repeats.
    pub fn cell(&self, cell: CellId) -> impl Iterator<Item = &TrialRecord> {
        self.trials
            .iter()
            .filter(move |trial| trial.trial.cell == cell)
    }

    /// How many trials are done without a failure.
    #[must_use]
    pub fn trials_done(&self) -> usize {
        self.trials
            .iter()
            .filter(|trial| trial.outcome == TrialOutcome::Done)
            .count()
    }

    /// How many trials were to run: the plan's repeats of each subject, and those beyond them that
    /// have a record. How many more a cell needs to be known well enough, nobody can plan.
    #[must_use]
    pub fn trials_planned(&self) -> usize {
        let least = self.header.plan.repeats;
        let beyond = self.trials.iter().filter(|it| it.trial.repeat >= least);
        self.header.plan.subjects.len() * least as usize + beyond.count()
    }
}
