//! `fslab study`: the studies that come with the program.

use clap::{Args, Subcommand};
use fslab_report::{Column, Table, TableCell};
use fslab_run::{load_study, studies};

use crate::exit::{CommandError, CommandResult, Exit};
use crate::screen;

/// Arguments of `fslab study`.
#[derive(Debug, Args)]
pub(crate) struct StudyArgs {
    #[command(subcommand)]
    command: StudyCommand,
}

#[derive(Debug, Subcommand)]
enum StudyCommand {
    /// List the studies
    List,
    /// Show a study's declaration
    Show {
        /// A study's name, or a file
        study: String,
        /// Print a JSON document
        #[arg(long)]
        json: bool,
    },
}

impl StudyArgs {
    pub(crate) fn exec(&self) -> CommandResult {
        match &self.command {
            StudyCommand::List => {
                let rows = studies().map(|name| {
                    let (study, _) = load_study(name)?;
                    Ok(vec![
                        TableCell::new(name),
                        TableCell::new(study.title),
                        TableCell::new(study.phases.len().to_string()),
                        TableCell::new(study.subjects.join(", ")),
                    ])
                });
                let table = Table {
                    caption: "Studies".into(),
                    columns: vec![
                        Column::left("Study"),
                        Column::left("Title"),
                        Column::right("Phases"),
                        Column::left("Subjects"),
                    ],
                    rows: rows.collect::<Result<_, CommandError>>()?,
                    notes: Vec::new(),
                };
                screen::print(&screen::render(&table))?;
            }
            StudyCommand::Show { study, json } => {
                let (study, _) = load_study(study)?;
                if *json {
                    screen::print_json(&study)?;
                } else {
                    let text = toml::to_string_pretty(&study).map_err(|error| {
                        CommandError::bad_input(format!("cannot write the study: {error}"))
                    })?;
                    screen::print(&text)?;
                }
            }
        }
        Ok(Exit::Done)
    }
}
