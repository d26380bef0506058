//! `fslab diff`: one run against another.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use fslab_diff::{DiffDocument, diff_table};

use super::compared_runs::ComparedArgs;
use super::output_file::put;
use crate::exit::{CommandResult, Exit};
use crate::screen;

/// The form of a diff.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A table for the terminal
    #[default]
    Table,
    /// A table in Markdown
    Markdown,
    /// A table in CSV
    Csv,
    /// Every figure, in JSON
    Json,
}

/// Arguments of `fslab diff`.
#[derive(Debug, Args)]
pub(crate) struct DiffArgs {
    #[command(flatten)]
    compared: ComparedArgs,
    /// The form
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Print a JSON document
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Write to a file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl DiffArgs {
    pub(crate) fn exec(&self) -> CommandResult {
        let diff = self.compared.diff()?;
        let format = if self.json { Format::Json } else { self.format };
        let table = diff_table(&diff);
        let text = match format {
            Format::Table => screen::render(&table),
            Format::Markdown => table.to_markdown(),
            Format::Csv => table.to_csv()?,
            Format::Json => screen::json(&DiffDocument::of(&diff))?,
        };
        put(text.as_bytes(), self.output.as_deref())?;
        Ok(Exit::Done)
    }
}
