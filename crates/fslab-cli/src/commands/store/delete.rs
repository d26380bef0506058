//! `fslab delete`: deletes runs, restores them, and purges them from the store.

use std::collections::BTreeSet;
use std::io::{self, BufRead, IsTerminal};

use clap::Args;
use fslab_model::{Failure, FailureKind, RunId};
use fslab_run::RunLock;
use fslab_store::{FoundRun, Store, StoreErrorKind};
use schemars::JsonSchema;
use serde::Serialize;

use crate::commands::store::args::StoreArgs;
use crate::defaults;
use crate::exit::{CommandError, CommandResult, Exit};
use crate::terminal::screen;

/// Arguments of `fslab delete`.
#[derive(Debug, Args)]
pub(crate) struct DeleteArgs {
    /// Runs: names or unique prefixes, `last`, `last~1`, or a range, for example last~5..last~1
    #[arg(value_name = "RUN", required_unless_present = "purge")]
    runs: Vec<String>,
    /// Restore deleted runs, by name
    #[arg(long, conflicts_with = "purge")]
    undo: bool,
    /// Remove deleted runs permanently; without RUN, all of them
    #[arg(long)]
    purge: bool,
    /// Do not ask for confirmation
    #[arg(long, short)]
    yes: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    store: StoreArgs,
}

/// What was done to a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum State {
    Deleted,
    BroughtBack,
    Removed,
    Kept,
}

/// A run in the output of `fslab delete --json`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct DeletedRun<'a> {
    #[serde(flatten)]
    run: &'a FoundRun,
    state: State,
}

impl DeleteArgs {
    pub(crate) fn exec(&self) -> CommandResult {
        let mut store = self.store.open_existing()?;
        let runs = self.found(&store)?;
        let locks: Result<Vec<_>, _> = runs.iter().map(lock).collect();
        let _locks = locks?;
        if !runs.is_empty() && !self.undo && !self.yes && !self.confirm(&runs)? {
            screen::notice("nothing was deleted");
            return self.print(&runs, State::Kept);
        }
        let state = if self.undo {
            store.undelete(&runs)?;
            State::BroughtBack
        } else if self.purge {
            store.purge(&runs)?;
            State::Removed
        } else {
            store.delete(&runs)?;
            State::Deleted
        };
        self.print(&runs, state)
    }

    /// The selected runs, each once.
    fn found(&self, store: &Store) -> Result<Vec<FoundRun>, CommandError> {
        if self.purge && self.runs.is_empty() {
            return Ok(store.deleted()?);
        }
        let mut found = Vec::new();
        for text in &self.runs {
            match store.find_deleted(text) {
                Ok(run) if self.undo || self.purge => found.push(run),
                Err(error) if self.undo => return Err(error.into()),
                Err(error) if self.purge && *error.kind() != StoreErrorKind::UnknownRun => {
                    return Err(error.into());
                }
                _ => found.extend(store.find(text)?),
            }
        }
        let mut seen = BTreeSet::new();
        found.retain(|run| seen.insert(run.run.clone()));
        Ok(found)
    }

    /// Asks for confirmation; an error without a terminal.
    fn confirm(&self, runs: &[FoundRun]) -> Result<bool, CommandError> {
        if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
            let text = "cannot ask for confirmation: standard input is not a terminal";
            let failure = Failure::new(FailureKind::BadInput, text);
            return Err(failure
                .hint("use --yes to delete without confirmation")
                .into());
        }
        let names: Vec<_> = runs.iter().map(|run| run.run.as_str()).collect();
        let trials: u64 = runs.iter().map(|run| run.trials).sum();
        let what = match self.purge {
            true => "permanently remove",
            false => "delete",
        };
        screen::say(&format!(
            "{what} {} with {}: {}? [y/N]",
            screen::counted(runs.len(), "run"),
            screen::counted(trials as usize, "trial"),
            names.join(", ")
        ));
        let mut answer = String::new();
        let read = io::stdin().lock().read_line(&mut answer);
        read.map_err(|error| CommandError::io("cannot read the answer", &error))?;
        let answer = answer.trim().to_lowercase();
        Ok(answer == "y" || answer == "yes")
    }

    fn print(&self, runs: &[FoundRun], state: State) -> CommandResult {
        if self.json {
            let documents = runs.iter().map(|run| DeletedRun { run, state });
            screen::print_json(&documents.collect::<Vec<_>>())?;
            return Ok(Exit::Done);
        }
        if runs.is_empty() {
            screen::print("there are no deleted runs to remove\n")?;
        }
        for FoundRun { run, trials, .. } in runs {
            let trials = screen::counted(*trials as usize, "trial");
            let line = match state {
                State::Deleted => {
                    format!("deleted {run}, {trials}; fslab delete --undo {run} restores it")
                }
                State::BroughtBack => format!("restored {run}, {trials}"),
                State::Removed => format!("removed {run}, {trials}"),
                State::Kept => format!("kept {run}, {trials}"),
            };
            screen::print(&format!("{line}\n"))?;
        }
        Ok(Exit::Done)
    }
}

/// The lock of a run; an error while the run is in progress. A damaged run with an invalid name
/// needs none.
fn lock(run: &FoundRun) -> Result<Option<RunLock>, CommandError> {
    let Ok(name) = run.run.parse::<RunId>() else {
        return Ok(None);
    };
    let lock = RunLock::take(&defaults::state()?, &name).map_err(|mut failure| {
        if failure.kind == FailureKind::BadInput {
            failure.hint = Some("wait until it ends, or stop it".into());
        }
        failure
    })?;
    Ok(Some(lock))
}
