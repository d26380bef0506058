//! `fslab store`: checks the database of runs.

use clap::{Args, Subcommand};
use fslab_report::{Column, Table, TableCell, Tone};
use fslab_store::{Checked, StoreDamage, StoreErrorKind};

use crate::commands::store::args::StoreArgs;
use crate::exit::{CommandError, CommandResult, Exit};
use crate::terminal::{screen, table};

/// Arguments of `fslab store`.
#[derive(Debug, Args)]
pub(crate) struct StoreCommandArgs {
    #[command(subcommand)]
    command: StoreCommand,
}

#[derive(Debug, Subcommand)]
enum StoreCommand {
    /// Read every record and list damaged ones by run and trial; exit code 1 if there are any
    Check(CheckArgs),
}

#[derive(Debug, Args)]
struct CheckArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    store: StoreArgs,
}

impl StoreCommandArgs {
    pub(crate) fn exec(&self) -> CommandResult {
        match &self.command {
            StoreCommand::Check(args) => args.exec(),
        }
    }
}

impl CheckArgs {
    fn exec(&self) -> CommandResult {
        let checked = self.check()?;
        if self.json {
            screen::print_json(&checked)?;
        } else {
            screen::print_styled(&table::render(&table(&checked)))?;
        }
        Ok(match checked.findings.is_empty() {
            true => Exit::Done,
            false => Exit::GateFailed,
        })
    }

    /// The findings. A file that cannot be read as a database is a finding, too.
    fn check(&self) -> Result<Checked, CommandError> {
        let checked = self
            .store
            .open_read_only_store()?
            .and_then(|store| store.check());
        match checked {
            Err(error) if *error.kind() == StoreErrorKind::Damaged => {
                let cause = error.failure().causes.first();
                let damage = cause.map_or_else(|| error.to_string(), String::clone);
                Ok(Checked {
                    findings: vec![StoreDamage {
                        run: None,
                        trial: None,
                        damage,
                    }],
                    ..Checked::default()
                })
            }
            other => Ok(other?),
        }
    }
}

fn table(checked: &Checked) -> Table {
    let rows = checked.findings.iter().map(|finding| {
        let cell = |text: &Option<String>| TableCell::new(text.as_deref().unwrap_or_default());
        vec![
            cell(&finding.run),
            cell(&finding.trial),
            TableCell::new(&finding.damage).tone(Tone::Bad),
        ]
    });
    let (runs, trials) = (
        screen::counted(checked.runs as usize, "run"),
        screen::counted(checked.trials as usize, "trial"),
    );
    let found = match checked.findings.len() {
        0 => "no damage".to_owned(),
        count => format!("{} found", screen::counted(count, "damaged place")),
    };
    Table {
        caption: format!("{runs} and {trials}: {found}"),
        columns: vec![
            Column::left("Run"),
            Column::left("Trial"),
            Column::left("Damage"),
        ],
        rows: rows.collect(),
        notes: Vec::new(),
    }
}
