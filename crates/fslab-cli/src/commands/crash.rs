//! `fslab crash`: what a power loss may leave of a recorded disk.

use std::io::BufReader;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueEnum};
use fslab_crash::{
    Budget, DiskCache, DiskLog, LogLimits, Moment, RequestKind, States, enumerate, moments,
    read_log,
};
use fslab_model::{Failure, FailureKind, KindCount, StateKind, Subject};
use fslab_report::{Column, Table, TableCell};
use serde::Serialize;

use super::crash_judge::JudgeArgs;
use super::crash_replay::{MinimiseArgs, ReplayArgs};
use super::crash_requests::RequestsArgs;
use crate::exit::{CommandError, CommandResult, Exit};
use crate::screen;

/// Arguments of `fslab crash`.
#[derive(Debug, Args)]
pub(crate) struct CrashArgs {
    #[command(subcommand)]
    command: CrashCommand,
}

#[derive(Debug, Subcommand)]
enum CrashCommand {
    /// Count the states that a power loss may leave of a phase, and list those within the budget
    States {
        /// The log of a disk, from --record-disk
        log: PathBuf,
        /// The phase in which power fails [default: the entire trial]
        #[arg(long)]
        phase: Option<String>,
        #[command(flatten)]
        choice: StateChoiceArgs,
        /// List the states, one a line, as `fslab crash replay` takes them
        #[arg(long)]
        list: bool,
        /// Print JSON: counts, and every state
        #[arg(long, conflicts_with = "list")]
        json: bool,
    },
    /// List the requests of a disk and the operations of its scripts, by time
    Requests(RequestsArgs),
    /// Judge the states of logs in guest kernels: mount, read, write, check, repair, and
    /// compare with the operations
    Judge(JudgeArgs),
    /// Print what a power loss interrupted and lost, write the state as an image, judge it,
    /// or look at it in a guest's shell
    Replay(ReplayArgs),
    /// Find the smallest set of lost writes of a state that still breaks the same promise
    Minimise(MinimiseArgs),
}

/// Which states of a log.
#[derive(Debug, Args)]
pub(crate) struct StateChoiceArgs {
    /// Whether the disk loses what its cache holds [default: as the recorded disk]
    #[arg(long, value_enum)]
    cache: Option<CacheName>,
    /// The most states of a log
    #[arg(long, default_value_t = 1000)]
    max_states: usize,
    /// Chooses among more states than that
    #[arg(long, default_value_t = 1)]
    sample_seed: u64,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum CacheName {
    /// It does
    Volatile,
    /// It does not
    Durable,
}

impl CrashArgs {
    pub(crate) fn exec(&self) -> CommandResult {
        match &self.command {
            CrashCommand::States {
                log,
                phase,
                choice,
                list,
                json,
            } => {
                let log = load(log)?;
                let cache = choice.cache_of(&log);
                let window = log
                    .window(phase.as_deref())
                    .map_err(CommandError::bad_input)?;
                let moments = moments(&log, window, &[], cache);
                let states = enumerate(&log, &moments, choice.budget());
                match (json, list) {
                    (true, _) => screen::print_json(&Document::of(&log, cache, &states))?,
                    (false, true) => screen::print(&lines(&states))?,
                    (false, false) => {
                        screen::print_styled(&screen::render(&table(&log, &moments, &states)))?;
                    }
                }
            }
            CrashCommand::Requests(args) => return args.exec(),
            CrashCommand::Judge(args) => return args.exec(),
            CrashCommand::Replay(args) => return args.exec(),
            CrashCommand::Minimise(args) => return args.exec(),
        }
        Ok(Exit::Done)
    }
}

impl StateChoiceArgs {
    /// The cache of the disk: as asked, or as the recorded disk.
    fn cache_of(&self, log: &DiskLog) -> DiskCache {
        self.cache().unwrap_or_else(|| log.disk_cache())
    }

    /// The cache that was asked for.
    pub(crate) fn cache(&self) -> Option<DiskCache> {
        self.cache.map(|it| match it {
            CacheName::Volatile => DiskCache::Volatile,
            CacheName::Durable => DiskCache::Durable,
        })
    }

    pub(crate) fn budget(&self) -> Budget {
        Budget {
            states: self.max_states,
            seed: self.sample_seed,
        }
    }
}

pub(crate) fn load(path: &Path) -> Result<DiskLog, CommandError> {
    let what = || format!("cannot open {}", path.display());
    let file = fslab_sys::open_named(path).map_err(|error| CommandError::io(what(), &error))?;
    let log = read_log(BufReader::new(file), LogLimits::default());
    Ok(log.map_err(|error| {
        let text = format!("cannot read {}", path.display());
        let failure = Failure::new(FailureKind::BadInput, text).because(&error);
        failure.hint("fslab compare ... --venue sim --record-disk DIR makes logs")
    })?)
}

/// The subject of a log.
pub(crate) fn subject_of(log: &DiskLog) -> Result<Subject, CommandError> {
    let subject = log.head.subject.parse();
    Ok(subject.map_err(|error| Failure::of_error(FailureKind::BadInput, &error))?)
}

/// The states for other programs.
#[derive(Serialize)]
struct Document<'a> {
    subject: &'a str,
    disk: &'a str,
    lab: &'a str,
    cache: DiskCache,
    kinds: Vec<KindDocument>,
    states: Vec<StateDocument>,
}

#[derive(Serialize)]
struct KindDocument {
    kind: StateKind,
    #[serde(flatten)]
    count: KindCount,
}

#[derive(Serialize)]
struct StateDocument {
    kind: StateKind,
    state: String,
}

impl<'a> Document<'a> {
    fn of(log: &'a DiskLog, cache: DiskCache, states: &States) -> Self {
        let kinds = states.counts.iter();
        let chosen = states.chosen.iter();
        Self {
            subject: &log.head.subject,
            disk: &log.head.disk,
            lab: &log.head.lab,
            cache,
            kinds: kinds
                .map(|(kind, count)| KindDocument {
                    kind: *kind,
                    count: *count,
                })
                .collect(),
            states: chosen
                .map(|(kind, state)| StateDocument {
                    kind: *kind,
                    state: state.to_string(),
                })
                .collect(),
        }
    }
}

fn lines(states: &States) -> String {
    let lines = states.chosen.iter().map(|(_, state)| format!("{state}\n"));
    lines.collect()
}

fn table(log: &DiskLog, moments: &[Moment], states: &States) -> Table {
    let row = |name: &str, count: KindCount| {
        vec![
            TableCell::new(name),
            TableCell::new(count.possible.to_string()),
            TableCell::new(count.tried.to_string()),
        ]
    };
    let mut rows: Vec<_> = states
        .counts
        .iter()
        .map(|(kind, count)| row(kind.as_str(), *count))
        .collect();
    let total = states
        .counts
        .values()
        .fold(KindCount::default(), |sum, it| KindCount {
            possible: sum.possible + it.possible,
            tried: sum.tried + it.tried,
        });
    rows.push(row("all", total));
    let of = |kind: fn(&RequestKind) -> bool| {
        let found = log.requests.iter().filter(|it| kind(&it.kind));
        found.count()
    };
    let writes = of(|kind| matches!(kind, RequestKind::Write(_)));
    let flushes = of(|kind| matches!(kind, RequestKind::Flush));
    let pending = moments.iter().map(|it| it.pending.len()).max();
    Table {
        caption: format!("States of {} after a power loss", log.head.subject),
        columns: vec![
            Column::left("Kind"),
            Column::right("Different"),
            Column::right("Within the budget"),
        ],
        rows,
        notes: vec![format!(
            "At {} of this time, with up to {} pending. The log has {} and {}.",
            screen::counted(moments.len(), "moment"),
            screen::counted(pending.unwrap_or(0), "write"),
            screen::counted(writes, "write"),
            screen::counted(flushes, "flush").replace("flushs", "flushes"),
        )],
    }
}
