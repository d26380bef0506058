//! `fslab export`: exports a run for other programs.

use std::io::IsTerminal;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use fslab_model::{Failure, FailureKind, RunRecord};

use crate::commands::store::args::{StoreArgs, load};
use crate::commands::store::csv_args::CsvArgs;
use crate::exit::{CommandError, CommandResult, Exit};
use crate::terminal::output_file::put;
use crate::terminal::screen;

/// Formats of an export.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Format {
    /// All records with histograms and time series; `fslab import` reads it
    Json,
    /// One row per trial, phase and metric; `fslab import` reads it
    Csv,
    /// One row per trial and phase, one column per metric
    CsvWide,
    /// Records of a run in virtual time without host-dependent fields; compare two runs with cmp
    Exact,
    /// CSV of bonnie++ 1.98, for a run of its phases; bon_csv2html reads it
    Bonnie,
    /// Iozone's tables and matrix report, for phases swept over file size and record size
    Iozone,
    /// fio's JSON+: one job per trial and phase, latencies in fio's bins
    Fio,
    /// IOR's JSON, for the phases that IOR could have run: one test per subject and phase
    Ior,
    /// mdtest's summary, for the metadata phases that mdtest has: one row per phase
    Mdtest,
    /// IO500's result.txt, for the study io500: one section per phase
    Io500,
    /// IO500's result_summary.txt: one line per phase, and the score
    Io500Summary,
    /// The rows of csv as a Parquet file
    Parquet,
}

/// Arguments of `fslab export`.
#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// Run: a name or a unique prefix, `last`, or `last~1` for the one before
    #[arg(default_value = "last")]
    run: String,
    /// Output format [default: by the ending of the file: .json, .csv or .parquet]
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Write to a file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    csv: CsvArgs,
    #[command(flatten)]
    store: StoreArgs,
}

impl ExportArgs {
    pub(crate) fn exec(&self) -> CommandResult {
        let format = self.format()?;
        let is_binary = matches!(format, Format::Parquet);
        if is_binary && self.output.is_none() && std::io::stdout().is_terminal() {
            let text = "cannot write Parquet to a terminal, since it is binary";
            let failure = Failure::new(FailureKind::BadInput, text);
            return Err(failure.hint("write it to a file with --output FILE").into());
        }
        let record = load(&self.store.open_read_only()?, &self.run)?;
        let content = self.content(format, &record)?;
        put(&content, self.output.as_deref())?;
        Ok(Exit::Done)
    }

    /// The format that was named, or that the file's ending names.
    fn format(&self) -> Result<Format, Failure> {
        let ending = self.output.as_ref().and_then(|file| file.extension());
        let by_ending = match ending.and_then(|ending| ending.to_str()) {
            Some("json") => Some(Format::Json),
            Some("csv") => Some(Format::Csv),
            Some("parquet") => Some(Format::Parquet),
            _ => None,
        };
        self.format.or(by_ending).ok_or_else(|| {
            let text = "the format of the export is not known";
            Failure::bad_input(text).hint(
                "--format csv, json, parquet or another of `fslab export --help`, or a file with \
                 one of these endings: --output run.csv",
            )
        })
    }

    fn content(&self, format: Format, record: &RunRecord) -> Result<Vec<u8>, CommandError> {
        let (text, left_out) = match format {
            Format::Json => (fslab_report::json(record)?, Vec::new()),
            Format::Csv => (
                fslab_report::csv_long(record, self.csv.cells())?,
                Vec::new(),
            ),
            Format::CsvWide => (
                fslab_exchange::csv_wide(record, self.csv.cells())?,
                Vec::new(),
            ),
            Format::Bonnie => (
                fslab_report::bonnie_csv(record)?,
                Vec::from_iter(fslab_exchange::bonnie_left_out(record)),
            ),
            Format::Iozone => (
                fslab_report::iozone_report(record)?,
                Vec::from_iter(fslab_exchange::iozone_left_out(record)),
            ),
            Format::Exact => (record.exact_json().ok_or_else(in_real_time)?, Vec::new()),
            Format::Fio => fslab_exchange::fio_json(record)?,
            Format::Ior => fslab_exchange::ior_json(record)?,
            Format::Mdtest => fslab_exchange::mdtest_text(record)?,
            Format::Io500 => fslab_exchange::io500_result(record)?,
            Format::Io500Summary => fslab_exchange::io500_summary(record)?,
            Format::Parquet => return Ok(fslab_exchange::parquet(record)?),
        };
        // Data that the format cannot represent.
        left_out.iter().for_each(|note| screen::warn(note));
        Ok(text.into_bytes())
    }
}

fn in_real_time() -> Failure {
    let text = "cannot export exact records: the run is in real time";
    Failure::new(FailureKind::BadInput, text).hint("--venue sim measures in virtual time")
}
