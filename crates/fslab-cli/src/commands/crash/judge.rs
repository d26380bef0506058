//! `fslab crash judge`: what is left in the states of a log, judged in guest kernels.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use clap::Args;
use fslab_crash::{
    CrashState, DiskLog, Examination, FlushDrop, JudgedState, PromisedBy, Promises, StateChoice,
    StateOutcome,
};
use fslab_lab::Lab;
use fslab_model::{
    Bytes, Failure, FailureKind, PromiseId, SimulatedDisk, StateKind, Subject, Survival,
};
use fslab_venue::{Control, STATE_LIMIT, StateJudge, StateJudgeSettings, examine};
use schemars::JsonSchema;
use serde::Serialize;

use crate::commands::crash::kept_states::KeptStates;
use crate::commands::crash::{StateChoiceArgs, load, load_outline, subject_of, table};
use crate::commands::measure::guest_lab;
use crate::exit::{CommandError, CommandResult, Exit};
use crate::terminal::screen;
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
                fslab_trial::ensure_judgeable(&subject_of(&load_outline(path)?.head)?)?;
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
        screen::print_styled(&screen::render(&table::survival(&results)))?;
        if let Some(table) = table::properties(&results) {
            screen::print_styled(&screen::render(&table))?;
        }
        screen::print(&table::failing_lines(&results, self.list))?;
        Ok(Exit::Done)
    }

    fn judge(&self, path: &Path, control: &Control) -> Result<LogResult, CommandError> {
        let log = load(path)?;
        let subject = subject_of(&log.head)?;
        let choice = StateChoice {
            phase: self.phase.clone(),
            cache: self.choice.cache(),
            budget: self.choice.budget(),
            dropped: self.drop_flush,
        };
        let examination = Examination::new(&log, &choice)
            .map_err(|error| CommandError::bad_input(format!("{}: {error}", path.display())))?;
        let settings = self.guest.settings(&log)?;
        let mut kept = match self.resume {
            true => {
                let lab = settings.first().map_or("", |it| it.guest.lab.as_str());
                Some(KeptStates::open(path, lab, self.drop_flush)?)
            }
            false => None,
        };
        let known = kept.as_mut().map(KeptStates::take_known);
        let began = Instant::now();
        let known = known.unwrap_or_default();
        let judged = judged_states(&examination, &known, &settings, kept, control)?;
        let elapsed = began.elapsed();
        let promises = Promises::built_in();
        let by = PromisedBy::of(&promises, &subject);
        let survival = examination.survival(&judged, by);
        let failing = judged.into_iter().filter(JudgedState::is_failing);
        let failing = failing.map(|state| FailingState {
            breaks: by.broken_in(&state).into_iter().collect(),
            state,
        });
        Ok(LogResult {
            log: path.to_owned(),
            subject: log.head.subject.clone(),
            survival,
            failing: failing.collect(),
            elapsed,
        })
    }
}

/// Judges the states that are not `known`, and keeps each in `kept`.
fn judged_states(
    examination: &Examination,
    known: &BTreeMap<String, JudgedState>,
    settings: &[StateJudgeSettings],
    kept: Option<KeptStates>,
    control: &Control,
) -> Result<Vec<JudgedState>, CommandError> {
    let subject = &examination.log().head.subject;
    let of = examination.states().len();
    let is_known = |state: &CrashState| known.contains_key(&examination.name(state));
    let before = match known.is_empty() {
        true => 0,
        false => examination
            .states()
            .iter()
            .filter(|it| is_known(&it.1))
            .count(),
    };
    let done = AtomicUsize::new(before);
    if done.load(Ordering::Relaxed) > 0 {
        let before = done.load(Ordering::Relaxed);
        screen::notice(&format!(
            "{subject}: {before} of {of} states are already judged"
        ));
    }
    let reported = Mutex::new(Instant::now());
    let has_kept = kept.is_some();
    let kept = Mutex::new(kept);
    let failed = Mutex::new(None);
    let take = |judged: &JudgedState| {
        if let Ok(mut kept) = kept.lock()
            && let Some(Err(error)) = kept.as_mut().map(|kept| kept.add(judged))
        {
            *kept = None;
            if let Ok(mut failed) = failed.lock() {
                *failed = Some(error);
            }
            control.request_stop();
        }
        let done = done.fetch_add(1, Ordering::Relaxed) + 1;
        if let Ok(mut reported) = reported.lock()
            && reported.elapsed() > PROGRESS_INTERVAL
        {
            *reported = Instant::now();
            screen::notice(&format!("{subject}: {done} of {of} states"));
        }
    };
    let judged = examine(
        examination,
        known,
        settings,
        &|| control.is_stopping(),
        &take,
    )?;
    if let Some(error) = failed.into_inner().ok().flatten() {
        return Err(error);
    }
    judged.ok_or_else(|| {
        let text = "judging was stopped on request";
        let failure = Failure::new(FailureKind::Interrupted, text);
        match has_kept {
            true => failure.hint("run the same command again to continue"),
            false => failure
                .hint("use --resume to save judged states, so that the next run can continue"),
        }
        .into()
    })
}

impl JudgeGuestArgs {
    /// The lab that was asked for.
    pub(crate) fn lab_name(&self) -> Option<&str> {
        self.lab.as_deref()
    }

    pub(crate) fn memory(&self) -> Bytes {
        self.memory
    }

    /// The outcome of one state.
    pub(crate) fn outcome(
        &self,
        log: &DiskLog,
        state: &CrashState,
    ) -> Result<StateOutcome, CommandError> {
        let mut judge = self.one(log)?;
        let outcome = judge.judge(state)?;
        judge.end()?;
        Ok(outcome)
    }

    /// A judge of single states.
    pub(crate) fn one<'a>(&self, log: &'a DiskLog) -> Result<StateJudge<'a>, CommandError> {
        let settings = self.settings_of(log, NonZeroUsize::MIN)?.swap_remove(0);
        Ok(StateJudge::new(log, settings)?)
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
        let subject = subject_of(&log.head)?;
        fslab_trial::ensure_judgeable(&subject)?;
        let lab = self.lab(&subject)?;
        let folder = self.images.clone().unwrap_or_else(std::env::temp_dir);
        let first = StateJudgeSettings {
            guest: guest_lab::settings(&lab, jobs)?,
            memory: self.memory,
            disk: disk_of(log)?,
            subject: log.head.subject.clone(),
            folder: defaults::canonical_path(&folder)?,
            leases: defaults::leases()?,
            limit: STATE_LIMIT,
            slot: 0,
        };
        let each = (0..jobs.get()).map(|slot| StateJudgeSettings {
            slot,
            ..first.clone()
        });
        Ok(each.collect())
    }
}

/// The recorded disk: its profile, with the cache that the log says.
fn disk_of(log: &DiskLog) -> Result<SimulatedDisk, CommandError> {
    let name = &log.head.disk;
    // A log is untrusted: it names no file of this machine.
    let is_file = name.contains('/') || name.ends_with(".toml");
    if is_file {
        let text = format!("the log names the disk '{name}', which is not a built-in disk profile");
        return Err(CommandError::bad_input(text));
    }
    let profile = fslab_disk::registry::find(name)
        .map_err(|error| Failure::of_error(FailureKind::BadInput, &error))?;
    Ok(profile.simulated())
}

/// The states of a log.
pub(crate) struct LogResult {
    pub(crate) log: PathBuf,
    pub(crate) subject: String,
    pub(crate) survival: Survival,
    pub(crate) failing: Vec<FailingState>,
    pub(crate) elapsed: Duration,
}

/// A state in which something is wrong.
#[derive(Serialize, JsonSchema)]
pub(crate) struct FailingState {
    /// The promises that it breaks.
    pub(crate) breaks: Vec<PromiseId>,
    #[serde(flatten)]
    pub(crate) state: JudgedState,
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
