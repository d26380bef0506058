//! `fslab list`: the runs in the store.

use clap::Args;
use fslab_report::{Column, Table, TableCell, Tone};
use fslab_store::RunSummary;

use super::store_args::StoreArgs;
use crate::exit::{CommandResult, Exit};
use crate::screen;

/// Arguments of `fslab list`.
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Print a JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    store: StoreArgs,
}

impl ListArgs {
    pub(crate) fn exec(&self) -> CommandResult {
        let runs = self.store.open_read_only()?.runs()?;
        if self.json {
            screen::print_json(&runs)?;
            return Ok(Exit::Done);
        }
        screen::print(&screen::render(&table(&runs)))?;
        Ok(Exit::Done)
    }
}

fn table(runs: &[RunSummary]) -> Table {
    let rows = runs.iter().map(|run| {
        let subjects: Vec<_> = run.subjects.iter().map(ToString::to_string).collect();
        let complete = run.trials_done == run.trials_planned;
        vec![
            TableCell::new(run.run.to_string()),
            TableCell::new(&run.study),
            TableCell::new(run.venue.as_str()),
            TableCell::new(subjects.join(", ")),
            TableCell {
                tone: if complete { Tone::Plain } else { Tone::Bad },
                ..TableCell::new(format!("{}/{}", run.trials_done, run.trials_planned))
            },
            TableCell {
                tone: if run.trials_failed == 0 {
                    Tone::Plain
                } else {
                    Tone::Bad
                },
                ..TableCell::new(run.trials_failed.to_string())
            },
        ]
    });
    Table {
        caption: format!("{}, newest first", screen::counted(runs.len(), "run")),
        columns: vec![
            Column::left("Run"),
            Column::left("Study"),
            Column::left("Venue"),
            Column::left("Subjects"),
            Column::right("Done"),
            Column::right("Failed"),
        ],
        rows: rows.collect(),
        notes: Vec::new(),
    }
}
