//! Does the recorded scripts of a log again on a failing disk, case by case.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use fslab_crash::faults::{
    Aftermath, BlockKind, CaseChoice, CaseOutcome, ChosenCases, DiskFault, DiskFaultKind,
    FaultCase, FaultPlan, JudgedCase, choose_cases, judge_case,
};
use fslab_crash::{DiskLog, LogScript};
use fslab_model::{Failure, FailureKind};
use fslab_venue::{Control, FaultJudge, StateJudgeSettings, judge_faults};

/// Time for each part of a case; a kernel that takes longer hangs.
const CASE_LIMIT: Duration = Duration::from_secs(60);

/// Which faults are injected into which scripts.
#[derive(Clone, Debug)]
pub struct FaultChoice {
    /// The phase of the scripts; `None` for all.
    pub phase: Option<String>,
    /// The kinds of faults; empty for all.
    pub faults: Vec<DiskFaultKind>,
    /// The kinds of blocks; empty for all.
    pub blocks: Vec<BlockKind>,
    /// This fault and no other.
    pub case: Option<DiskFault>,
    pub blocks_per_kind: usize,
    /// The most cases of a script.
    pub cases_max: usize,
}

/// Receives the progress of the cases of a log.
pub trait FaultObserver: Sync {
    /// `left_out` of `of` cases of a script are more than were asked for.
    fn left_out(&self, script: &LogScript, left_out: usize, of: usize);
    /// `done` of `of` cases of a script are judged.
    fn judged(&self, script: &LogScript, done: usize, of: usize);
}

/// The scripts of a log that are done on the failing disk.
pub struct FaultyScripts<'a> {
    log: &'a DiskLog,
    choice: &'a FaultChoice,
    scripts: Vec<&'a LogScript>,
}

impl<'a> FaultyScripts<'a> {
    /// The scripts of `log`, which was read from `path`.
    ///
    /// # Errors
    /// A [`Failure`] if there is none to do.
    pub fn of(log: &'a DiskLog, path: &Path, choice: &'a FaultChoice) -> Result<Self, Failure> {
        let all = &log.head.scripts;
        let phase = choice.phase.as_deref();
        let is_wanted = |it: &&LogScript| phase.is_none_or(|name| it.phase == name);
        let scripts: Vec<&LogScript> = all.iter().filter(is_wanted).collect();
        if scripts.is_empty() {
            let names: Vec<&str> = all.iter().map(|it| it.phase.as_str()).collect();
            let text = format!("{} has no matching script to replay", path.display());
            let hint = match names.is_empty() {
                true => {
                    "record a study with the workload `script`, for example --study iron".to_owned()
                }
                false => format!("its phases with scripts are {}", names.join(", ")),
            };
            return Err(Failure::new(FailureKind::BadInput, text).hint(hint));
        }
        Ok(Self {
            log,
            choice,
            scripts,
        })
    }

    /// The judged cases of all scripts, with one guest for each of `settings`.
    ///
    /// # Errors
    /// Those of the guests; a script that fails without a fault; a stop on request.
    pub fn judge(
        &self,
        mut settings: Vec<StateJudgeSettings>,
        observer: &dyn FaultObserver,
        control: &Control,
    ) -> Result<Vec<JudgedCase>, Failure> {
        for each in &mut settings {
            each.limit = CASE_LIMIT;
        }
        let mut cases = Vec::new();
        for script in &self.scripts {
            let script = FaultyScript {
                log: self.log,
                choice: self.choice,
                script,
                settings: &settings,
                observer,
                control,
            };
            cases.extend(script.cases()?);
        }
        Ok(cases)
    }
}

/// A script that is done on the failing disk.
struct FaultyScript<'a> {
    log: &'a DiskLog,
    choice: &'a FaultChoice,
    script: &'a LogScript,
    settings: &'a [StateJudgeSettings],
    observer: &'a dyn FaultObserver,
    control: &'a Control,
}

impl FaultyScript<'_> {
    fn cases(&self) -> Result<Vec<JudgedCase>, Failure> {
        let plan = self.script.plan().map_err(bad_input)?;
        let (begin_ns, _) = self.script.window(&plan);
        let before = self.log.head.scripts.iter();
        let before: Vec<LogScript> = before.filter(|it| it.end_ns <= begin_ns).cloned().collect();
        let cases = self.chosen(&before)?;
        let plans: Vec<FaultPlan> = cases.iter().map(|it| plan_of(it.fault)).collect();
        let outcomes = self.outcomes(&plans)?;
        let judged = outcomes.iter().map(|(number, outcome)| {
            judge_case(&cases[*number], self.script, &before, outcome).map_err(bad_input)
        });
        judged.collect()
    }

    /// The cases, after a run without faults in which nothing may be wrong.
    fn chosen(&self, before: &[LogScript]) -> Result<Vec<FaultCase>, Failure> {
        let subject = self.log.head.parsed_subject()?;
        let mut first = FaultJudge::new(self.log, self.script.clone(), self.settings[0].clone())?;
        let run = first.run_without_faults(subject.fs());
        first.end()?;
        let run = run?;
        let choice = CaseChoice {
            faults: self.choice.faults.clone(),
            blocks: self.choice.blocks.clone(),
            blocks_per_cell: self.choice.blocks_per_kind,
            cases: self.choice.cases_max,
            disk_sectors: self.log.head.sectors,
            is_plain: run.is_plain,
        };
        let accesses = &run.outcome.counted.accesses;
        let ChosenCases {
            mut cases,
            left_out,
        } = choose_cases(&run.units, accesses, &choice);
        let of_fault = |fault: DiskFault| FaultCase::of_fault(fault, &run.units, accesses);
        if let Some(fault) = self.choice.case {
            fault
                .ensure_within(self.log.head.sectors)
                .map_err(bad_input)?;
            cases = vec![of_fault(fault)];
        } else if left_out > 0 {
            let all = cases.len() + left_out;
            self.observer.left_out(self.script, left_out, all);
        }
        let none: DiskFault = "read-error@0+1#0"
            .parse()
            .map_err(|error| Failure::of_error(FailureKind::BadInput, &error))?;
        let judged =
            judge_case(&of_fault(none), self.script, before, &run.outcome).map_err(bad_input)?;
        if judged.aftermath != Aftermath::Intact || !judged.errors.is_empty() {
            let text = format!(
                "the script of {} fails even without a fault: {}",
                self.script.phase,
                [judged.errors, judged.lost_names, judged.mount_errors]
                    .concat()
                    .join("; ")
            );
            return Err(Failure::new(FailureKind::Check, text).hint(
                "use a script that succeeds without faults: only then are failures the effect of \
                 a fault",
            ));
        }
        Ok(cases)
    }

    /// The outcome of each plan, in order.
    fn outcomes(&self, plans: &[FaultPlan]) -> Result<BTreeMap<usize, CaseOutcome>, Failure> {
        let outcomes = Mutex::new(BTreeMap::new());
        let take = |number: usize, outcome: CaseOutcome| {
            let Ok(mut outcomes) = outcomes.lock() else {
                return;
            };
            outcomes.insert(number, outcome);
            self.observer
                .judged(self.script, outcomes.len(), plans.len());
        };
        let is_stopped = || self.control.is_stopping();
        let settings = self.settings;
        judge_faults(self.log, self.script, plans, settings, &is_stopped, &take)?;
        if self.control.is_stopping() {
            let text = "fault injection was stopped on request";
            return Err(Failure::new(FailureKind::Interrupted, text));
        }
        Ok(outcomes.into_inner().unwrap_or_default())
    }
}

fn plan_of(fault: DiskFault) -> FaultPlan {
    FaultPlan {
        faults: vec![fault],
    }
}

fn bad_input(text: impl Into<String>) -> Failure {
    Failure::new(FailureKind::BadInput, text)
}
