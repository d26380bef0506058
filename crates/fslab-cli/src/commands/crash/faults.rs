//! `fslab faults`: what file systems make of a failing disk.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use fslab_crash::faults::{BlockKind, CaseClaims, DiskFault, DiskFaultKind};
use fslab_crash::{DiskLog, LogHead, LogScript};
use fslab_model::{Failure, FailureKind};
use fslab_run::{FaultChoice, FaultObserver, FaultyScripts};
use fslab_venue::Control;

use super::faults_table::FaultsResult;
use crate::commands::crash::faults_table;
use crate::commands::crash::judge::{JudgeGuestArgs, Pace};
use crate::commands::crash::logs::{load, load_outline};
use crate::exit::{CommandError, CommandResult, Exit};
use crate::signals;
use crate::terminal::{screen, table};

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

impl FaultsArgs {
    pub(crate) fn exec(&self) -> CommandResult {
        let control = Control::new();
        signals::stop_on_signals(&control)
            .map_err(|error| CommandError::io("cannot handle signals", &error))?;
        // All logs are checked first: an error in a later one would lose the results.
        let mut labs_without_flush_errors = BTreeSet::new();
        for path in &self.logs {
            let log = load_outline(path)?;
            fslab_trial::ensure_judgeable(&log.head.parsed_subject()?)?;
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
            screen::print_styled(&table::render(&faults_table::matrix_of(result)))?;
        }
        screen::print(&faults_table::lines(&results, self.list))?;
        if let Some(claims) = &claims {
            let table = faults_table::claims_of(claims, &results);
            screen::print_styled(&table::render(&table))?;
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
        let lab = self.guest.lab(&head.parsed_subject()?)?;
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
        let choice = FaultChoice {
            phase: self.phase.clone(),
            faults: self.fault.clone(),
            blocks: self.block.clone(),
            case: self.case,
            blocks_per_kind: self.blocks_per_kind,
            cases_max: self.max_cases,
        };
        let scripts = FaultyScripts::of(log, path, &choice)?;
        let progress = Progress {
            subject: &log.head.subject,
            pace: Pace::new(),
        };
        let cases = scripts.judge(self.guest.settings(log)?, &progress, control)?;
        Ok(FaultsResult {
            log: path.to_owned(),
            subject: log.head.subject.clone(),
            cases,
            elapsed: began.elapsed(),
        })
    }
}

/// Prints how far the cases of a subject have come.
struct Progress<'a> {
    subject: &'a str,
    pace: Pace,
}

impl FaultObserver for Progress<'_> {
    fn left_out(&self, script: &LogScript, left_out: usize, of: usize) {
        screen::notice(&format!(
            "{} of {}: {left_out} of {of} cases are skipped; use --max-cases {of} to try all",
            script.phase, self.subject
        ));
    }

    fn judged(&self, script: &LogScript, done: usize, of: usize) {
        if self.pace.is_due() {
            screen::notice(&format!(
                "{}, {}: {done} of {of} cases",
                self.subject, script.phase
            ));
        }
    }
}
