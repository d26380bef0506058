//! `fslab crash judge`: what is left in the states of a log, judged in guest kernels.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use clap::Args;
use fslab_crash::{
    CrashState, DiskLog, DroppedFlushes, Judge, JudgedState, LogScript, Moment, PromisedBy,
    Promises, Property, ScriptPlan, StateKind, StateOutcome, States, Survival, enumerate, moments,
    original_state,
};
use fslab_model::{Bytes, Failure, FailureKind, SimulatedDisk, Subject};
use fslab_venue::{Control, StateJudge, StateJudgeSettings, judge_all};
use serde::Serialize;

use super::crash::{StateChoiceArgs, load, window};
use super::{crash_table, guest_lab};
use crate::exit::{CommandError, CommandResult, Exit};
use crate::{defaults, screen, signals};

/// Time for a state; the slowest repairs take seconds.
const STATE_LIMIT: Duration = Duration::from_secs(120);
/// Interval of the lines on the progress.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(10);

/// Arguments of `fslab crash judge`.
#[derive(Debug, Args)]
pub(crate) struct JudgeArgs {
    /// The logs of disks, from --record-disk
    #[arg(required = true)]
    logs: Vec<PathBuf>,
    /// The phase in which power fails [default: every script; without scripts, all phases]
    #[arg(long)]
    phase: Option<String>,
    #[command(flatten)]
    choice: StateChoiceArgs,
    /// A planted fault: judge what is left if flushes of the log do nothing, `all` after the
    /// set-up of the first script, or the one with this number
    #[arg(long, value_name = "FLUSH", value_parser = parse_dropped)]
    drop_flush: Option<Dropped>,
    /// List every state in which something is wrong
    #[arg(long)]
    list: bool,
    /// Print JSON: sums, and every state in which something is wrong
    #[arg(long, conflicts_with = "list")]
    json: bool,
    #[command(flatten)]
    guest: JudgeGuestArgs,
}

/// The guests that judge.
#[derive(Debug, Args)]
pub(crate) struct JudgeGuestArgs {
    /// The lab of the guests, by its name or digest
    #[arg(long, value_name = "NAME")]
    kernel: Option<String>,
    /// The memory of a guest
    #[arg(long, default_value = "512MiB", allow_hyphen_values = true)]
    memory: Bytes,
    /// Guests in parallel [default: one for each processor]
    #[arg(long)]
    jobs: Option<NonZeroUsize>,
    /// The folder of the guests' images [default: that of temporary files]
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
}

/// Which flushes do nothing.
#[derive(Clone, Copy, Debug)]
enum Dropped {
    All,
    One(usize),
}

fn parse_dropped(text: &str) -> Result<Dropped, String> {
    match (text, text.parse()) {
        ("all", _) => Ok(Dropped::All),
        (_, Ok(number)) => Ok(Dropped::One(number)),
        (_, Err(_)) => Err("all, or the number of a flush from 0".to_owned()),
    }
}

impl JudgeArgs {
    pub(crate) fn exec(&self) -> CommandResult {
        let mut results = Vec::new();
        for path in &self.logs {
            results.push(self.judge(path)?);
        }
        if self.json {
            let documents: Vec<Document> = results.iter().map(Document::of).collect();
            screen::print_json(&documents)?;
            return Ok(Exit::Done);
        }
        screen::print_styled(&screen::render(&crash_table::survival(&results)))?;
        if results.iter().any(|it| !it.properties.is_empty()) {
            screen::print_styled(&screen::render(&crash_table::properties(&results)))?;
        }
        screen::print(&crash_table::failing_lines(&results, self.list))?;
        Ok(Exit::Done)
    }

    fn judge(&self, path: &Path) -> Result<LogResult, CommandError> {
        let original = load(path)?;
        let subject: Subject = original
            .head
            .subject
            .parse()
            .map_err(|error| Failure::of_error(FailureKind::BadInput, &error))?;
        let scripts = scripts_of(&original, self.phase.as_deref());
        let timed = TimedScripts::of(&scripts)?;
        let windows = self.windows(&original, timed.windows)?;
        let dropped = self.dropped(&windows);
        let log = match dropped {
            Some(dropped) => Cow::Owned(original.clone().without_flushes(dropped)),
            None => Cow::Borrowed(&original),
        };
        let found = windows
            .iter()
            .flat_map(|window| moments(&log, *window, &timed.borders, self.choice.cache(&log)));
        let found: Vec<Moment> = found.collect();
        let states = enumerate(&log, &found, self.choice.budget());
        let judge = Judge::new(&scripts).map_err(|error| {
            CommandError::bad_input(format!("the scripts of {}: {error}", path.display()))
        })?;
        let name = |state: &CrashState| match dropped {
            Some(dropped) => original_state(&original, dropped, state).to_string(),
            None => state.to_string(),
        };
        let began = Instant::now();
        let outcomes = self.guest.outcomes(&log, &states)?;
        let elapsed = began.elapsed();
        let judged = outcomes.into_iter().map(|(number, outcome)| {
            let (kind, state) = &states.chosen[number];
            judge.judge(*kind, state, name(state), &outcome)
        });
        let judged: Vec<JudgedState> = judged.collect();
        let promises = Promises::built_in();
        let by = PromisedBy {
            promises: &promises,
            fs: subject.fs(),
            options: subject.mount_options(),
        };
        let survival = Survival::of(&judged, states.counts, by);
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
            properties: asked_of(&scripts),
            elapsed,
        })
    }

    /// The times in which power fails: those of the scripts, or of phases without any.
    fn windows(
        &self,
        log: &DiskLog,
        of_scripts: Vec<(u64, u64)>,
    ) -> Result<Vec<(u64, u64)>, CommandError> {
        match (&self.phase, &log.head.phases[..]) {
            _ if !of_scripts.is_empty() => Ok(of_scripts),
            (None, [first, .., last]) => Ok(vec![(first.begin_ns, last.end_ns)]),
            (phase, _) => Ok(vec![window(log, phase.as_deref())?]),
        }
    }

    /// The flushes that do nothing: as they are judged, all of the scripts.
    fn dropped(&self, windows: &[(u64, u64)]) -> Option<DroppedFlushes> {
        Some(match self.drop_flush? {
            Dropped::One(number) => DroppedFlushes::One(number),
            Dropped::All => DroppedFlushes::Since(windows.iter().map(|it| it.0).min().unwrap_or(0)),
        })
    }
}

/// When power fails in scripts.
struct TimedScripts {
    /// From the set-up's end, a pair for each script.
    windows: Vec<(u64, u64)>,
    /// Begins and ends of all steps, in order.
    borders: Vec<u64>,
}

impl TimedScripts {
    fn of(scripts: &[LogScript]) -> Result<Self, CommandError> {
        let (mut windows, mut borders) = (Vec::new(), Vec::new());
        for script in scripts {
            let plan = plan_of(script)?;
            windows.push(script.window(&plan));
            borders.extend(script.borders(&plan));
        }
        borders.sort_unstable();
        Ok(Self { windows, borders })
    }
}

fn plan_of(script: &LogScript) -> Result<ScriptPlan, CommandError> {
    let plan = script.plan();
    plan.map_err(|error| {
        CommandError::bad_input(format!("the script of {}: {error}", script.phase))
    })
}

fn scripts_of(log: &DiskLog, phase: Option<&str>) -> Vec<LogScript> {
    let all = log.head.scripts.iter();
    let chosen = all.filter(|it| phase.is_none_or(|phase| it.phase == phase));
    chosen.cloned().collect()
}

fn asked_of(scripts: &[LogScript]) -> BTreeMap<(String, usize), String> {
    let step = |script: &LogScript, number: usize| {
        let operation = script.operations.get(number);
        operation.map_or_else(String::new, |it| it.step.to_string())
    };
    let asked = scripts.iter().flat_map(|script| {
        let properties = script.properties.iter().enumerate();
        properties.map(move |(number, property)| {
            let text = match *property {
                Property::Atomic(at) => format!("'{}' is atomic", step(script, at)),
                Property::Prefix(at) => format!("of '{}' a prefix is there", step(script, at)),
                Property::Ordered(first, second) => {
                    format!(
                        "'{}' is before '{}'",
                        step(script, first),
                        step(script, second)
                    )
                }
            };
            ((script.phase.clone(), number), text)
        })
    });
    asked.collect()
}

impl JudgeGuestArgs {
    /// The lab that was asked for.
    pub(crate) fn kernel(&self) -> Option<&str> {
        self.kernel.as_deref()
    }

    /// The memory of a guest.
    pub(crate) fn memory(&self) -> Bytes {
        self.memory
    }

    /// The outcome of each state, in order.
    fn outcomes(
        &self,
        log: &DiskLog,
        states: &States,
    ) -> Result<BTreeMap<usize, StateOutcome>, CommandError> {
        let settings = self.settings(log)?;
        let control = Control::new();
        signals::stop_on_signals(&control)
            .map_err(|error| CommandError::io("cannot handle signals", &error))?;
        let all: Vec<CrashState> = states.chosen.iter().map(|it| it.1.clone()).collect();
        let outcomes = Mutex::new(BTreeMap::new());
        let (done, reported) = (AtomicUsize::new(0), Mutex::new(Instant::now()));
        let take = |number: usize, outcome: StateOutcome| {
            if let Ok(mut outcomes) = outcomes.lock() {
                outcomes.insert(number, outcome);
            }
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            if let Ok(mut reported) = reported.lock()
                && reported.elapsed() > PROGRESS_INTERVAL
            {
                *reported = Instant::now();
                let of = all.len();
                screen::notice(&format!("{}: {done} of {of} states", log.head.subject));
            }
        };
        judge_all(log, &all, &settings, &|| control.is_stopping(), &take)?;
        if control.is_stopping() {
            let text = "the judging of states was stopped on request";
            return Err(Failure::new(FailureKind::Interrupted, text).into());
        }
        Ok(outcomes.into_inner().unwrap_or_default())
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
        let settings = self.settings(log)?.swap_remove(0);
        Ok(StateJudge::new(log, settings)?)
    }

    /// The settings of each guest.
    pub(crate) fn settings(&self, log: &DiskLog) -> Result<Vec<StateJudgeSettings>, CommandError> {
        let subject: Subject = log
            .head
            .subject
            .parse()
            .map_err(|error| Failure::of_error(FailureKind::BadInput, &error))?;
        fslab_trial::ensure_judgeable(&subject)?;
        let processors = std::thread::available_parallelism();
        let jobs = self.jobs.or(processors.ok()).unwrap_or(NonZeroUsize::MIN);
        let name = self.kernel.as_deref().or(subject.kernel());
        let lab = guest_lab::find_for(None, name)?;
        let folder = self.folder.clone().unwrap_or_else(std::env::temp_dir);
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
    // A log is a stranger's: it names no file of this machine.
    let is_file = name.contains('/') || name.ends_with(".toml");
    if is_file {
        let text = format!("the log is of the disk '{name}', which is no profile of fslab");
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
    /// What the scripts ask, by phase and place in the list of the script, in words.
    pub(crate) properties: BTreeMap<(String, usize), String>,
    pub(crate) elapsed: Duration,
}

/// A state in which something is wrong.
#[derive(Serialize)]
pub(crate) struct FailingState {
    /// The promises that it breaks.
    pub(crate) breaks: Vec<fslab_crash::PromiseId>,
    #[serde(flatten)]
    pub(crate) state: JudgedState,
}

/// The result for other programs.
#[derive(Serialize)]
struct Document<'a> {
    log: &'a Path,
    subject: &'a str,
    /// Kinds of states in words, by their names.
    kinds: BTreeMap<StateKind, &'static str>,
    survival: &'a Survival,
    failing: &'a [FailingState],
}

impl<'a> Document<'a> {
    fn of(result: &'a LogResult) -> Self {
        let kinds = result.survival.kinds.keys();
        Self {
            log: &result.log,
            subject: &result.subject,
            kinds: kinds.map(|kind| (*kind, kind.as_str())).collect(),
            survival: &result.survival,
            failing: &result.failing,
        }
    }
}
