//! `fslab crash`: what a power loss may leave of a recorded disk.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use fslab_crash::{DiskCache, LogOutline, RequestKind, States};
use fslab_model::{KindCount, StateKind};
use fslab_report::{Column, Table, TableCell};
use serde::{Serialize, Serializer};

use super::logs::load_outline;
use super::state_choice::StateChoiceArgs;
use crate::commands::crash::judge::JudgeArgs;
use crate::commands::crash::replay::{MinimiseArgs, ReplayArgs};
use crate::commands::crash::requests::RequestsArgs;
use crate::exit::{CommandResult, Exit};
use crate::terminal::{screen, table};

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
                        screen::print_styled(&table::render(&table(&log, &states)))?;
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
