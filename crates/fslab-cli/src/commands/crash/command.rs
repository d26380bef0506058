//! `fslab crash`: what a power loss may leave of a recorded disk.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueEnum};
use fslab_crash::{
    Budget, DiskCache, DiskLog, LogError, LogHead, LogLimits, LogOutline, Moments, RequestKind,
    States, read_log, read_outline,
};
use fslab_model::{Failure, FailureKind, KindCount, StateKind};
use fslab_report::{Column, Table, TableCell};
use serde::{Serialize, Serializer};

use crate::commands::crash::judge::JudgeArgs;
use crate::commands::crash::replay::{MinimiseArgs, ReplayArgs};
use crate::commands::crash::requests::RequestsArgs;
use crate::exit::{CommandError, CommandResult, Exit};
use crate::terminal::screen;

/// Most states that can be asked for; judging so many takes more than a day.
const STATES_MAX: usize = 4 << 20;

/// Arguments of `fslab crash`.
#[derive(Debug, Args)]
pub(crate) struct CrashArgs {
    #[command(subcommand)]
    command: CrashCommand,
}

#[derive(Debug, Subcommand)]
enum CrashCommand {
    /// Count the crash states of a phase; with --list, list up to --max-states of them
    States {
        /// Disk log, from --record-disk
        log: PathBuf,
        /// Phase during which power fails [default: the entire trial]
        #[arg(long)]
        phase: Option<String>,
        #[command(flatten)]
        choice: StateChoiceArgs,
        /// List the states, one per line, in the form that `fslab crash replay` takes
        #[arg(long)]
        list: bool,
        /// Print JSON: the counts, and the states
        #[arg(long, conflicts_with = "list")]
        json: bool,
    },
    /// List the disk's requests and the operations of scripts, by time
    Requests(RequestsArgs),
    /// Judge crash states in guest kernels: mount, read, write, check, repair, and compare with the
    /// recorded operations
    Judge(JudgeArgs),
    /// Show what a power loss interrupted and lost; write that state to an image, judge it, or
    /// inspect it in a guest's shell
    Replay(ReplayArgs),
    /// Reduce the lost writes of a state to the smallest set that still breaks the same promise
    Minimise(MinimiseArgs),
}

/// Which states of a log.
#[derive(Debug, Args)]
pub(crate) struct StateChoiceArgs {
    /// Treat the disk's write cache as volatile (lost at power loss) or durable [default: as
    /// recorded]
    #[arg(long, value_enum)]
    cache: Option<CacheName>,
    /// Maximum number of crash states to test per log
    #[arg(long, default_value_t = 1000, value_parser = parse_max_states)]
    max_states: usize,
    /// Seed for sampling when a log has more states than --max-states
    #[arg(long, default_value_t = 1)]
    sample_seed: u64,
}

fn parse_max_states(text: &str) -> Result<usize, String> {
    let states: usize = text.parse().map_err(|_| "not a number".to_owned())?;
    match states > STATES_MAX {
        true => Err(format!("the maximum is {STATES_MAX}")),
        false => Ok(states),
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum CacheName {
    /// Lost at power loss
    Volatile,
    /// Kept at power loss
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
                let log = load_outline(log)?;
                let cache = choice.cache_of(&log.head);
                let states = choice.states_of(&log, phase.as_deref(), cache)?;
                match (json, list) {
                    (true, _) => screen::print_long_json(&Document::of(&log, cache, &states))?,
                    (false, true) => screen::print_as_made(|output| {
                        let mut states = states.iter();
                        states.try_for_each(|(_, state)| writeln!(output, "{state}"))
                    })?,
                    (false, false) => {
                        screen::print_styled(&screen::render(&table(&log, &states)))?;
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
    fn cache_of(&self, head: &LogHead) -> DiskCache {
        self.cache().unwrap_or_else(|| head.disk_cache())
    }

    /// The states of a phase, or of everything.
    fn states_of(
        &self,
        log: &LogOutline,
        phase: Option<&str>,
        cache: DiskCache,
    ) -> Result<States, CommandError> {
        let window = log.head.window(phase, &log.requests);
        let window = window.map_err(CommandError::bad_input)?;
        let moments = Moments::of(&log.requests, &[window], &[], cache)
            .map_err(|error| Failure::of_error(FailureKind::BadInput, &error))?;
        Ok(States::choose(&log.requests, moments, self.budget()))
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

/// A log with its data.
pub(crate) fn load(path: &Path) -> Result<DiskLog, CommandError> {
    load_by(path, |file| {
        let file_bytes = file.metadata().map_or(0, |it| it.len());
        let memory = fslab_sys::MachineMemory::now();
        let memory_left_bytes = memory.and_then(|it| it.available_bytes).unwrap_or(u64::MAX);
        let limits = LogLimits::of_file(file_bytes, memory_left_bytes);
        read_log(BufReader::new(file), limits)
    })
}

/// A log without its data: for what asks for requests and times alone.
pub(crate) fn load_outline(path: &Path) -> Result<LogOutline, CommandError> {
    load_by(path, |file| {
        read_outline(BufReader::new(file), LogLimits::default())
    })
}

fn load_by<T>(
    path: &Path,
    read: impl FnOnce(File) -> Result<T, LogError>,
) -> Result<T, CommandError> {
    let what = || format!("cannot open {}", path.display());
    let file = fslab_sys::open_named(path).map_err(|error| CommandError::io(what(), &error))?;
    Ok(read(file).map_err(|error| {
        let text = format!("cannot read {}", path.display());
        let failure = Failure::new(FailureKind::BadInput, text).because(&error);
        failure.hint(match error {
            LogError::TooLarge { .. } => "record fewer phases or less data, for a smaller log",
            _ => "record disk logs with fslab compare ... --venue sim --record-disk DIR",
        })
    })?)
}

/// The states for other programs.
#[derive(Serialize)]
struct Document<'a> {
    subject: &'a str,
    disk: &'a str,
    lab: &'a str,
    cache: DiskCache,
    kinds: Vec<KindDocument>,
    states: StateList<'a>,
}

/// States that are made as they are written.
struct StateList<'a>(&'a States);

impl Serialize for StateList<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(|(kind, state)| StateDocument {
            kind,
            state: state.to_string(),
        }))
    }
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
    fn of(log: &'a LogOutline, cache: DiskCache, states: &'a States) -> Self {
        let kinds = states.counts.iter();
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
            states: StateList(states),
        }
    }
}

fn table(log: &LogOutline, states: &States) -> Table {
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
    let of = |kind| log.requests.iter().filter(|it| it.kind == kind).count();
    let (writes, flushes) = (of(RequestKind::Write), of(RequestKind::Flush));
    let moments = states.moments();
    Table {
        caption: format!("Crash states of {}", log.head.subject),
        columns: vec![
            Column::left("Kind"),
            Column::right("Possible"),
            Column::right("Selected"),
        ],
        rows,
        notes: vec![format!(
            "Power can fail at {}, with up to {} pending. The log has {} and {}.",
            screen::counted(moments.len(), "moment"),
            screen::counted(moments.most_pending(), "write"),
            screen::counted(writes, "write"),
            screen::counted(flushes, "flush").replace("flushs", "flushes"),
        )],
    }
}
