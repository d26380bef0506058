//! `fslab crash judge`: what is left in the states of a log, judged in guest kernels.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use clap::Args;
use fslab_crash::{DiskLog, Examination, FailingState, FlushDrop, StateChoice};
use fslab_lab::Lab;
use fslab_model::{Bytes, Failure, KindCount, StateKind, Subject, Survival};
use fslab_report::{Table, tables};
use fslab_run::{JudgeGuests, KeptStates, StateObserver, judge_states};
use fslab_venue::{Control, StateJudgeSettings};
use schemars::JsonSchema;
use serde::Serialize;

use crate::commands::crash::logs::{load, load_outline};
use crate::commands::crash::state_choice::StateChoiceArgs;
use crate::commands::measure::guest_lab;
use crate::exit::{CommandError, CommandResult, Exit};
use crate::terminal::{screen, table};
use crate::{defaults, signals};

/// Interval of the lines on the progress.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(10);

/// Arguments of `fslab crash judge`.
#[derive(Debug, Args)]
pub(crate) struct JudgeArgs {
    /// Disk logs, from --record-disk
    #[arg(required = true)]
    logs: Vec<PathBuf>,
    /// Phase during which power fails [default: every script; without scripts, all phases]
    #[arg(long)]
    phase: Option<String>,
    #[command(flatten)]
    choice: StateChoiceArgs,
    /// Ignore flush number FLUSH of the log (`all`: every flush after the first script's set-up),
    /// to check that the judge notices
    #[arg(long, value_name = "FLUSH", value_parser = parse_dropped)]
    drop_flush: Option<FlushDrop>,
    /// Save each judged state to LOG.judged, and skip the states that are already there
    #[arg(long)]
    resume: bool,
    /// List all failing states
    #[arg(long)]
    list: bool,
    /// Print JSON: the totals, and all failing states
    #[arg(long, conflicts_with = "list")]
    json: bool,
    #[command(flatten)]
    guest: JudgeGuestArgs,
}

/// The guests that judge.
#[derive(Debug, Args)]
pub(crate) struct JudgeGuestArgs {
    /// Lab of the guests, by name or digest
    #[arg(long, value_name = "NAME")]
    lab: Option<String>,
    /// Memory of each guest
    #[arg(long, default_value = "512MiB", allow_hyphen_values = true)]
    memory: Bytes,
    /// Number of parallel guests [default: one per processor]
    #[arg(long)]
    jobs: Option<NonZeroUsize>,
    /// Directory for the guests' images [default: TMPDIR, else /tmp]
    #[arg(long, value_name = "DIR")]
    images: Option<PathBuf>,
}

fn parse_dropped(text: &str) -> Result<FlushDrop, String> {
    match (text, text.parse()) {
        ("all", _) => Ok(FlushDrop::All),
        (_, Ok(number)) => Ok(FlushDrop::One(number)),
        (_, Err(_)) => Err("expected `all` or the number of a flush, counted from 0".to_owned()),
    }
}

impl JudgeArgs {
    pub(crate) fn exec(&self) -> CommandResult {
        // All logs are checked first: an error in a later one would lose the results.
        if self.logs.len() > 1 {
            for path in &self.logs {
                fslab_trial::ensure_judgeable(&load_outline(path)?.head.parsed_subject()?)?;
            }
        }
        let control = Control::new();
        signals::stop_on_signals(&control)
            .map_err(|error| CommandError::io("cannot handle signals", &error))?;
        let mut results = Vec::new();
        for path in &self.logs {
            results.push(self.judge(path, &control)?);
        }
        if self.json {
            let documents: Vec<JudgedLog> = results.iter().map(LogResult::document).collect();
            screen::print_json(&documents)?;
            return Ok(Exit::Done);
        }
        screen::print_styled(&table::render(&survival(&results)))?;
        if let Some(table) = properties(&results) {
            screen::print_styled(&table::render(&table))?;
        }
        screen::print(&failing_lines(&results, self.list))?;
        Ok(Exit::Done)
    }

    fn judge(&self, path: &Path, control: &Control) -> Result<LogResult, CommandError> {
        let log = load(path)?;
        let choice = StateChoice {
            phase: self.phase.clone(),
            cache: self.choice.cache(),
            budget: self.choice.budget(),
            dropped: self.drop_flush,
        };
        let examination = Examination::new(&log, &choice)
            .map_err(|error| CommandError::bad_input(format!("{}: {error}", path.display())))?;
        let settings = self.guest.settings(&log)?;
        let kept = match self.resume {
            true => {
                let lab = settings.first().map_or("", |it| it.guest.lab.as_str());
                Some(KeptStates::open(path, lab, self.drop_flush)?)
            }
            false => None,
        };
        let progress = Progress {
            subject: &log.head.subject,
            pace: Pace::new(),
        };
        let began = Instant::now();
        let judged = judge_states(&examination, &settings, kept, &progress, control)?;
        Ok(LogResult {
            log: path.to_owned(),
            subject: log.head.subject.clone(),
            survival: judged.survival,
            failing: judged.failing,
            elapsed: began.elapsed(),
        })
    }
}

/// Prints how far the judging of a subject's states has come.
struct Progress<'a> {
    subject: &'a str,
    pace: Pace,
}

impl StateObserver for Progress<'_> {
    fn known(&self, before: usize, of: usize) {
        let subject = self.subject;
        screen::notice(&format!(
            "{subject}: {before} of {of} states are already judged"
        ));
    }

    fn judged(&self, done: usize, of: usize) {
        if self.pace.is_due() {
            screen::notice(&format!("{}: {done} of {of} states", self.subject));
        }
    }
}

/// Lets a line on the progress through at times.
pub(crate) struct Pace(Mutex<Instant>);

impl Pace {
    pub(crate) fn new() -> Self {
        Self(Mutex::new(Instant::now()))
    }

    pub(crate) fn is_due(&self) -> bool {
        let Ok(mut reported) = self.0.lock() else {
            return false;
        };
        let is_due = reported.elapsed() > PROGRESS_INTERVAL;
        if is_due {
            *reported = Instant::now();
        }
        is_due
    }
}

impl JudgeGuestArgs {
    /// The lab that was asked for.
    pub(crate) fn lab_name(&self) -> Option<&str> {
        self.lab.as_deref()
    }

    pub(crate) fn memory(&self) -> Bytes {
        self.memory
    }

    /// The settings of one guest.
    pub(crate) fn one(&self, log: &DiskLog) -> Result<StateJudgeSettings, CommandError> {
        Ok(self.settings_of(log, NonZeroUsize::MIN)?.swap_remove(0))
    }

    /// The lab of the guests: that of the subject, unless another was asked for.
    pub(crate) fn lab(&self, subject: &Subject) -> Result<Lab, Failure> {
        guest_lab::find_for(None, self.lab.as_deref().or(subject.kernel()))
    }

    pub(crate) fn settings(&self, log: &DiskLog) -> Result<Vec<StateJudgeSettings>, CommandError> {
        let processors = std::thread::available_parallelism();
        let jobs = self.jobs.or(processors.ok()).unwrap_or(NonZeroUsize::MIN);
        self.settings_of(log, jobs)
    }

    /// The settings of `jobs` guests at a time.
    fn settings_of(
        &self,
        log: &DiskLog,
        jobs: NonZeroUsize,
    ) -> Result<Vec<StateJudgeSettings>, CommandError> {
        let subject = log.head.parsed_subject()?;
        fslab_trial::ensure_judgeable(&subject)?;
        let lab = self.lab(&subject)?;
        let folder = self.images.clone().unwrap_or_else(std::env::temp_dir);
        let guests = JudgeGuests {
            guest: guest_lab::settings(&lab, jobs)?,
            memory: self.memory,
            folder: defaults::canonical_path(&folder)?,
            leases: defaults::leases()?,
        };
        Ok(guests.settings(log)?)
    }
}

/// The states of a log.
pub(crate) struct LogResult {
    pub(crate) log: PathBuf,
    pub(crate) subject: String,
    pub(crate) survival: Survival,
    pub(crate) failing: Vec<FailingState>,
    pub(crate) elapsed: Duration,
}

impl LogResult {
    /// The result for other programs.
    fn document(&self) -> JudgedLog<'_> {
        let kinds = self.survival.kinds.keys();
        JudgedLog {
            log: &self.log,
            subject: &self.subject,
            kinds: kinds.map(|kind| (*kind, kind.as_str())).collect(),
            survival: &self.survival,
            failing: &self.failing,
        }
    }
}

/// The states of a log, for other programs.
#[derive(Serialize, JsonSchema)]
pub(crate) struct JudgedLog<'a> {
    /// The log's file.
    log: &'a Path,
    /// The subject.
    subject: &'a str,
    /// Kinds of states in words, by their names.
    kinds: BTreeMap<StateKind, &'static str>,
    /// What is left, over all states.
    survival: &'a Survival,
    /// The states in which something is wrong.
    failing: &'a [FailingState],
}

/// Failing states of a log that are listed if not all are asked for.
const LISTED_MAX: usize = 5;

/// A column for each log.
pub(crate) fn survival(results: &[LogResult]) -> Table {
    let mut table = tables::survival(&disks(results));
    table.notes = results.iter().map(kinds_note).collect();
    table
}

/// The properties that scripts ask for; `None` if they ask for none.
pub(crate) fn properties(results: &[LogResult]) -> Option<Table> {
    tables::survival_properties(&disks(results))
}

fn disks(results: &[LogResult]) -> Vec<(&str, &Survival)> {
    let disks = results.iter();
    disks
        .map(|it| (it.subject.as_str(), &it.survival))
        .collect()
}

fn kinds_note(result: &LogResult) -> String {
    let kind = |(kind, count): (&StateKind, &KindCount)| {
        format!("{} {} of {}", kind.as_str(), count.tried, count.possible)
    };
    let kinds: Vec<String> = result.survival.kinds.iter().map(kind).collect();
    let seconds = result.elapsed.as_secs_f64().max(0.001);
    let hourly = result.survival.states as f64 / seconds * 3600.0;
    format!(
        "{}: {}; judged in {seconds:.0} s, {hourly:.0} states per hour.",
        result.subject,
        kinds.join(", ")
    )
}

/// A line for each failing state, as `fslab crash replay` takes it, and what is wrong with it.
pub(crate) fn failing_lines(results: &[LogResult], all: bool) -> String {
    let mut text = String::new();
    for result in results {
        // Broken promises first, then the shortest.
        let mut states: Vec<&FailingState> = result.failing.iter().collect();
        states.sort_by_key(|it| (it.breaks.is_empty(), it.state.state.len()));
        let shown = if all { states.len() } else { LISTED_MAX };
        for failing in states.iter().take(shown) {
            let promise = match failing.breaks.is_empty() {
                true => "no promise",
                false => "a promise",
            };
            text += &format!(
                "fslab crash replay {} {}\n  breaks {promise}: {}\n",
                result.log.display(),
                failing.state.state,
                screen::plain(&failing.state.what_is_wrong())
            );
        }
        if states.len() > shown {
            let more = states.len() - shown;
            text += &format!("and {more} more of {}; --list shows all\n", result.subject);
        }
    }
    text
}
