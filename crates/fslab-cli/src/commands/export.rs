//! `fslab export`: a run's records for other programs.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use fslab_model::{Failure, FailureKind};

use super::store_args::{StoreArgs, load};
use crate::exit::{CommandError, CommandResult, Exit};
use crate::screen;

/// The form of an export.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Format {
    /// Everything, histograms and time series included
    Json,
    /// One row for each trial, phase and metric
    Csv,
    /// What every machine gets of this plan: the records of a run in virtual time, without what
    /// the host adds; two runs are compared with cmp
    Exact,
    /// The CSV of bonnie++ 1.98, for a run of its phases; bon_csv2html reads it
    Bonnie,
    /// Iozone's tables and its report of matrices, for phases swept over file and record size
    Iozone,
}

/// Arguments of `fslab export`.
#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// A run's name, a unique beginning of one, or `last`
    #[arg(default_value = "last")]
    run: String,
    /// The form
    #[arg(long, value_enum)]
    format: Format,
    /// Write to a file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    store: StoreArgs,
}

impl ExportArgs {
    pub(crate) fn exec(&self) -> CommandResult {
        let record = load(&self.store.open_read_only()?, &self.run)?;
        let text = match self.format {
            Format::Json => fslab_report::json(&record)?,
            Format::Csv => fslab_report::csv_long(&record)?,
            Format::Bonnie => fslab_report::bonnie_csv(&record)?,
            Format::Iozone => fslab_report::iozone_report(&record)?,
            Format::Exact => record.exact_json().ok_or_else(in_real_time)?,
        };
        match &self.output {
            None => screen::print(&text)?,
            Some(path) => std::fs::write(path, text).map_err(|error| {
                CommandError::io(format!("cannot write {}", path.display()), &error)
            })?,
        }
        Ok(Exit::Done)
    }
}

fn in_real_time() -> Failure {
    let text = "cannot export what every machine gets: the run was made in real time";
    Failure::new(FailureKind::BadInput, text).hint("--venue sim measures in virtual time")
}
