//! `fslab list`: lists the runs in the store.

use clap::Args;
use fslab_model::{ParseSubjectError, Subject};
use fslab_report::{Column, Table, TableCell, Tone};
use fslab_store::{DamagedRun, ListedRun, RunFilter, RunSummary};

use crate::commands::store::args::StoreArgs;
use crate::exit::{CommandError, CommandResult, Exit};
use crate::terminal::{screen, table};

/// Default maximum number of runs.
const LIMIT: u32 = 50;

/// Arguments of `fslab list`.
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Maximum number of runs, newest first [default: 50; all with --json]
    #[arg(long, value_name = "N")]
    limit: Option<u32>,
    /// List only runs of this study
    #[arg(long, value_name = "NAME")]
    study: Option<String>,
    /// List only runs with this subject: a file system with any options, or with exactly these
    #[arg(long, value_name = "SUBJECT")]
    subject: Option<String>,
    /// List deleted runs; `fslab delete --undo RUN` restores one
    #[arg(long)]
    deleted: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    store: StoreArgs,
}

impl ListArgs {
    pub(crate) fn exec(&self) -> CommandResult {
        let store = self.store.open_read_only()?;
        let filter = RunFilter {
            deleted: self.deleted,
            study: self.study.clone(),
            subject: self.subject.as_deref().map(canonical).transpose()?,
        };
        if self.json {
            screen::print_json(&store.runs(&filter, self.limit)?)?;
            return Ok(Exit::Done);
        }
        let runs = store.runs(&filter, Some(self.limit.unwrap_or(LIMIT)))?;
        let of = store.count_runs(&filter)?;
        screen::print_styled(&table::render(&table(&runs, of)))?;
        Ok(Exit::Done)
    }
}

/// The subject in the form that the store uses.
fn canonical(text: &str) -> Result<String, CommandError> {
    let subject: Result<Subject, _> = text.parse();
    subject
        .map(|subject| subject.to_string())
        .map_err(|error: ParseSubjectError| CommandError::bad_input(error.to_string()))
}

fn table(runs: &[ListedRun], of: u64) -> Table {
    let rows = runs.iter().map(|run| match run {
        ListedRun::Sound(summary) => sound(summary),
        ListedRun::Damaged(damaged) => broken(damaged),
    });
    let damaged = runs.iter().filter(|run| run.sound().is_none()).count();
    let notes = (damaged > 0).then(|| {
        format!(
            "{} damaged: fslab store check shows the damage, fslab delete RUN removes a run from \
             the list",
            screen::counted(damaged, "run")
        )
    });
    Table {
        caption: caption(runs.len(), of),
        columns: vec![
            Column::left("Run"),
            Column::left("Study"),
            Column::left("Venue"),
            Column::left("Subjects"),
            Column::right("Done"),
            Column::right("Failed"),
        ],
        rows: rows.collect(),
        notes: notes.into_iter().collect(),
    }
}

fn sound(run: &RunSummary) -> Vec<TableCell> {
    let subjects: Vec<_> = run.subjects.iter().map(ToString::to_string).collect();
    let tone = |is_good| if is_good { Tone::Plain } else { Tone::Bad };
    let complete = run.trials_done == run.trials_planned;
    vec![
        TableCell::new(run.run.to_string()),
        TableCell::new(&run.study),
        TableCell::new(run.venue.as_str()),
        TableCell::new(subjects.join(", ")),
        TableCell::new(format!("{}/{}", run.trials_done, run.trials_planned)).tone(tone(complete)),
        TableCell::new(run.trials_failed.to_string()).tone(tone(run.trials_failed == 0)),
    ]
}

fn broken(run: &DamagedRun) -> Vec<TableCell> {
    vec![
        TableCell::new(&run.run),
        TableCell::new("damaged").tone(Tone::Bad),
        TableCell::nothing(),
        TableCell::new(&run.damaged),
        TableCell::nothing(),
        TableCell::nothing(),
    ]
}

/// `3 runs, newest first`, or `the newest 50 of 812 runs`.
fn caption(shown: usize, of: u64) -> String {
    if shown as u64 == of {
        return format!("{}, newest first", screen::counted(shown, "run"));
    }
    format!("the newest {shown} of {of} runs; --limit {of} shows all")
}
