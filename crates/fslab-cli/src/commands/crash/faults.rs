//! `fslab faults`: what file systems make of a failing disk.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use clap::Args;
use fslab_crash::faults::{
    BlockKind, CaseChoice, CaseClaims, CaseOutcome, ChosenCases, DiskFault, DiskFaultKind,
    FaultCase, FaultPlan, JudgedCase, choose_cases, judge_case,
};
use fslab_crash::{DiskLog, LogHead, LogScript};
use fslab_model::{Failure, FailureKind};
use fslab_venue::{Control, FaultJudge, StateJudgeSettings, judge_faults};
use schemars::JsonSchema;
use serde::Serialize;

use crate::commands::crash::judge::JudgeGuestArgs;
use crate::commands::crash::{faults_table, load, load_outline, subject_of};
use crate::exit::{CommandError, CommandResult, Exit};
use crate::signals;
use crate::terminal::screen;

/// Time for each part of a case; a kernel that takes longer hangs.
const CASE_LIMIT: Duration = Duration::from_secs(60);
/// Interval of the lines on the progress.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(10);

const FLUSH_ERRORS_HINT: &str = "build a lab that can with `fslab lab build --flush-errors`, and \
                                 use it with --lab flush-errors";

/// Arguments of `fslab faults`.
#[derive(Debug, Args)]
pub(crate) struct FaultsArgs {
    /// Disk logs with recorded scripts, from --record-disk
    #[arg(required = true)]
    logs: Vec<PathBuf>,
    /// Phase whose script to replay on the failing disk [default: every phase with a script]
    #[arg(long)]
    phase: Option<String>,
    /// Inject only faults of this kind, for example read-error, lost-write or flush-error; may be
    /// repeated
    #[arg(long, value_name = "FAULT", value_parser = str::parse::<DiskFaultKind>)]
    fault: Vec<DiskFaultKind>,
    /// Inject faults only into blocks of this kind, for example journal, inode or data; may be
    /// repeated
    #[arg(long, value_name = "KIND", value_parser = parse_block)]
    block: Vec<BlockKind>,
    /// Inject only this fault, in the form in which failing cases are printed
    #[arg(long, value_name = "FAULT", value_parser = str::parse::<DiskFault>,
          conflicts_with_all = ["fault", "block"])]
    case: Option<DiskFault>,
    /// Number of blocks to fail per block kind
    #[arg(long, default_value_t = 3)]
    blocks_per_kind: usize,
    /// Maximum number of cases per script
    #[arg(long, default_value_t = 600)]
    max_cases: usize,
    /// Show which claims of a published study hold
    #[arg(long, value_name = "STUDY", value_parser = CaseClaims::studies().collect::<Vec<_>>())]
    claims: Option<String>,
    /// List all cases, with the errors that applications got and the kernel logged
    #[arg(long)]
    list: bool,
    /// Print JSON: all cases
    #[arg(long, conflicts_with = "list")]
    json: bool,
    #[command(flatten)]
    guest: JudgeGuestArgs,
}

fn parse_block(text: &str) -> Result<BlockKind, String> {
    let found = BlockKind::ALL
        .iter()
        .copied()
        .find(|it| it.as_str() == text);
    found.ok_or_else(|| {
        let names: Vec<_> = BlockKind::ALL.iter().map(|it| it.as_str()).collect();
        format!("expected one of {}", names.join(", "))
    })
}

/// The cases of a log.
#[derive(Serialize, JsonSchema)]
pub(crate) struct FaultsResult {
    /// The log's file.
    pub(crate) log: PathBuf,
    /// The subject.
    pub(crate) subject: String,
    /// Its cases.
    pub(crate) cases: Vec<JudgedCase>,
    #[serde(skip)]
    pub(crate) elapsed: Duration,
}

impl FaultsArgs {
    pub(crate) fn exec(&self) -> CommandResult {
        let control = Control::new();
        signals::stop_on_signals(&control)
            .map_err(|error| CommandError::io("cannot handle signals", &error))?;
        // All logs are checked first: an error in a later one would lose the results.
        let mut labs_without_flush_errors = BTreeSet::new();
        for path in &self.logs {
            let log = load_outline(path)?;
            fslab_trial::ensure_judgeable(&subject_of(&log.head)?)?;
            if let Some(lab) = self.lab_without_flush_errors(&log.head)? {
                labs_without_flush_errors.insert(lab);
            }
        }
        let mut results = Vec::new();
        for path in &self.logs {
            results.push(self.judge(path, &load(path)?, &control)?);
        }
        for lab in labs_without_flush_errors {
            screen::notice(&format!(
                "no flush errors were injected: the disk of the lab '{lab}' cannot fail flushes; \
                 {FLUSH_ERRORS_HINT}"
            ));
        }
        if self.json {
            screen::print_json(&results)?;
            return Ok(Exit::Done);
        }
        let claims = self.claims.as_deref().and_then(CaseClaims::built_in);
        for result in &results {
            screen::print_styled(&screen::render(&faults_table::matrix_of(result)))?;
        }
        screen::print(&faults_table::lines(&results, self.list))?;
        if let Some(claims) = &claims {
            let table = faults_table::claims_of(claims, &results);
            screen::print_styled(&screen::render(&table))?;
        }
        Ok(Exit::Done)
    }

    /// The lab of a log, if flushes are to fail and its disk fails none; an error if nothing else
    /// was asked for.
    fn lab_without_flush_errors(&self, head: &LogHead) -> Result<Option<String>, CommandError> {
        let kind = DiskFaultKind::FlushError;
        let asked = self.fault.contains(&kind) || self.case.is_some_and(|it| it.kind == kind);
        let is_any_fault = self.fault.is_empty() && self.case.is_none();
        let is_any_block = self.block.is_empty() || self.block.contains(&BlockKind::Cache);
        if !is_any_block || !(asked || is_any_fault) {
            return Ok(None);
        }
        let lab = self.guest.lab(&subject_of(head)?)?;
        if lab.kernel.facts.flush_errors {
            return Ok(None);
        }
        if asked {
            let text = format!("the disk of the lab '{}' cannot fail flushes", lab.name);
            let failure = Failure::new(FailureKind::Unsupported, text);
            return Err(failure.hint(FLUSH_ERRORS_HINT).into());
        }
        Ok(Some(lab.name))
    }

    fn judge(
        &self,
        path: &Path,
        log: &DiskLog,
        control: &Control,
    ) -> Result<FaultsResult, CommandError> {
        let began = Instant::now();
        let scripts = &log.head.scripts;
        let is_wanted = |it: &&LogScript| self.phase.as_deref().is_none_or(|name| it.phase == name);
        let chosen: Vec<&LogScript> = scripts.iter().filter(is_wanted).collect();
        if chosen.is_empty() {
            let names: Vec<&str> = scripts.iter().map(|it| it.phase.as_str()).collect();
            let text = format!("{} has no matching script to replay", path.display());
            let hint = match names.is_empty() {
                true => {
                    "record a study with the workload `script`, for example --study iron".to_owned()
                }
                false => format!("its phases with scripts are {}", names.join(", ")),
            };
            return Err(Failure::new(FailureKind::BadInput, text).hint(hint).into());
        }
        let mut settings = self.guest.settings(log)?;
        for each in &mut settings {
            each.limit = CASE_LIMIT;
        }
        let mut cases = Vec::new();
        for script in chosen {
            let judged = Script {
                args: self,
                log,
                script,
                settings: &settings,
                control,
            };
            cases.extend(judged.cases()?);
        }
        Ok(FaultsResult {
            log: path.to_owned(),
            subject: log.head.subject.clone(),
            cases,
            elapsed: began.elapsed(),
        })
    }
}

/// A script that is done on the failing disk.
struct Script<'a> {
    args: &'a FaultsArgs,
    log: &'a DiskLog,
    script: &'a LogScript,
    settings: &'a [StateJudgeSettings],
    control: &'a Control,
}

impl Script<'_> {
    fn cases(&self) -> Result<Vec<JudgedCase>, CommandError> {
        let plan = self.script.plan().map_err(CommandError::bad_input)?;
        let (begin_ns, _) = self.script.window(&plan);
        let before = self.log.head.scripts.iter();
        let before: Vec<LogScript> = before.filter(|it| it.end_ns <= begin_ns).cloned().collect();
        let cases = self.chosen(&before)?;
        let plans: Vec<FaultPlan> = cases.iter().map(|it| plan_of(it.fault)).collect();
        let outcomes = self.outcomes(&plans)?;
        let judged = outcomes.iter().map(|(number, outcome)| {
            let judged = judge_case(&cases[*number], self.script, &before, outcome);
            judged.map_err(CommandError::bad_input)
        });
        judged.collect()
    }

    /// The cases, after a run without faults in which nothing may be wrong.
    fn chosen(&self, before: &[LogScript]) -> Result<Vec<FaultCase>, CommandError> {
        let subject = subject_of(&self.log.head)?;
        let mut first = FaultJudge::new(self.log, self.script.clone(), self.settings[0].clone())?;
        let run = first.run_without_faults(subject.fs());
        first.end()?;
        let run = run?;
        let choice = CaseChoice {
            faults: self.args.fault.clone(),
            blocks: self.args.block.clone(),
            blocks_per_cell: self.args.blocks_per_kind,
            cases: self.args.max_cases,
            disk_sectors: self.log.head.sectors,
            is_plain: run.is_plain,
        };
        let accesses = &run.outcome.counted.accesses;
        let ChosenCases {
            mut cases,
            left_out,
        } = choose_cases(&run.units, accesses, &choice);
        let of_fault = |fault: DiskFault| FaultCase::of_fault(fault, &run.units, accesses);
        if let Some(fault) = self.args.case {
            let within = fault.ensure_within(self.log.head.sectors);
            within.map_err(CommandError::bad_input)?;
            cases = vec![of_fault(fault)];
        } else if left_out > 0 {
            let all = cases.len() + left_out;
            screen::notice(&format!(
                "{} of {}: {left_out} of {all} cases are skipped; use --max-cases {all} to try all",
                self.script.phase, self.log.head.subject
            ));
        }
        let none: DiskFault = "read-error@0+1#0"
            .parse()
            .map_err(|error| Failure::of_error(FailureKind::BadInput, &error))?;
        let judged = judge_case(&of_fault(none), self.script, before, &run.outcome)
            .map_err(CommandError::bad_input)?;
        if judged.aftermath != fslab_crash::faults::Aftermath::Intact || !judged.errors.is_empty() {
            let text = format!(
                "the script of {} fails even without a fault: {}",
                self.script.phase,
                [judged.errors, judged.lost_names, judged.mount_errors]
                    .concat()
                    .join("; ")
            );
            return Err(Failure::new(FailureKind::Check, text)
                .hint(
                    "use a script that succeeds without faults: only then are failures the \
                       effect of a fault",
                )
                .into());
        }
        Ok(cases)
    }

    /// The outcome of each plan, in order.
    fn outcomes(&self, plans: &[FaultPlan]) -> Result<BTreeMap<usize, CaseOutcome>, CommandError> {
        let outcomes = Mutex::new((BTreeMap::new(), Instant::now()));
        let take = |number: usize, outcome: CaseOutcome| {
            let Ok(mut outcomes) = outcomes.lock() else {
                return;
            };
            outcomes.0.insert(number, outcome);
            if outcomes.1.elapsed() > PROGRESS_INTERVAL {
                outcomes.1 = Instant::now();
                screen::notice(&format!(
                    "{}, {}: {} of {} cases",
                    self.log.head.subject,
                    self.script.phase,
                    outcomes.0.len(),
                    plans.len()
                ));
            }
        };
        let is_stopped = || self.control.is_stopping();
        let settings = self.settings;
        judge_faults(self.log, self.script, plans, settings, &is_stopped, &take)?;
        if self.control.is_stopping() {
            let text = "fault injection was stopped on request";
            return Err(Failure::new(FailureKind::Interrupted, text).into());
        }
        Ok(outcomes.into_inner().map(|it| it.0).unwrap_or_default())
    }
}

fn plan_of(fault: DiskFault) -> FaultPlan {
    FaultPlan {
        faults: vec![fault],
    }
}
