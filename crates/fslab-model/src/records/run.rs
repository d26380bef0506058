//! A run: one execution of a plan on one machine, with its records.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{CellId, MachineFacts, Plan, PlanHash, RunId, TrialOutcome, TrialRecord};

/// The header of a run, known before its first trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunHeader {
    /// Its name.
    pub run: RunId,
    /// The plan, with the seed used.
    pub plan: Plan,
    /// Hash of the plan.
    pub plan_hash: PlanHash,
    /// Version of fslab that began it.
    pub fslab: String,
    /// The machine.
    pub machine: MachineFacts,
    /// The command line, word by word.
    pub command: Vec<String>,
    /// Start in seconds since 1970.
    pub started_unix_s: u64,
}

/// A run with its trials: the input of a report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunRecord {
    /// The header.
    #[serde(flatten)]
    pub header: RunHeader,
    /// The trials with a record, in the order of cell and repeat.
    pub trials: Vec<TrialRecord>,
}

impl RunRecord {
    /// The trials of a cell, in the order of their repeats.
    pub fn cell(&self, cell: CellId) -> impl Iterator<Item = &TrialRecord> {
        self.trials
            .iter()
            .filter(move |trial| trial.trial.cell == cell)
    }

    /// The repeats of a cell: those of the plan, and further ones that adaptive repeats added.
    pub fn repeats(&self, cell: CellId) -> u32 {
        let last = self.cell(cell).map(|trial| trial.trial.repeat).max();
        let run = last.map_or(0, |last| last.saturating_add(1));
        run.max(self.header.plan.repeats)
    }

    /// The number of trials without a failure.
    pub fn trials_done(&self) -> usize {
        self.trials
            .iter()
            .filter(|trial| trial.outcome == TrialOutcome::Done)
            .count()
    }

    /// The number of planned trials: the plan's repeats of each subject, and further ones with a
    /// record. Further repeats with a target are not known beforehand.
    pub fn trials_planned(&self) -> usize {
        let least = self.header.plan.repeats;
        let beyond = self.trials.iter().filter(|it| it.trial.repeat >= least);
        self.header.plan.subjects.len() * least as usize + beyond.count()
    }

    /// The number of runs of a subject in virtual time, the unperturbed one included; `None` if
    /// repeats are not perturbed or there is only one.
    pub fn perturbed_runs(&self) -> Option<usize> {
        let plan = &self.header.plan;
        let counts = plan.cells().map(|cell| self.cell(cell.id).count());
        counts.max().filter(|count| plan.perturb && *count > 1)
    }
}
