//! `fslab diff`: compares two runs.

use std::path::PathBuf;

use clap::Args;
use fslab_compare::{Diff, named, wording};
use fslab_model::Percent;
use fslab_report::{DiffDocument, MeetingsDocument, diff_table, meetings_table};

use crate::commands::diff::form::Form;
use crate::commands::diff::runs::ComparedArgs;
use crate::commands::store::csv_args::CsvArgs;
use crate::exit::{CommandResult, Exit};
use crate::terminal::output_file::put;
use crate::terminal::screen;

/// Arguments of `fslab diff`.
#[derive(Debug, Args)]
pub(crate) struct DiffArgs {
    #[command(flatten)]
    compared: ComparedArgs,
    /// Treat differences up to this as equal; always 1 % for single exact results in virtual time
    /// [default: 5%]
    #[arg(long, value_name = "PERCENT")]
    tolerance: Option<Percent>,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    format: Form,
    /// Print JSON
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Print which phases would be compared and how their conditions differ; compare nothing
    #[arg(long)]
    dry_run: bool,
    /// Write to a file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    csv: CsvArgs,
}

impl DiffArgs {
    pub(crate) fn exec(&self) -> CommandResult {
        let form = if self.json { Form::Json } else { self.format };
        let cells = self.csv.cells();
        if self.dry_run {
            let meet = self.compared.meet()?;
            let [base, new] = [&meet.base, &meet.new].map(|runs| wording::run_names(runs));
            let document = MeetingsDocument::of(&meet.meetings);
            let table = meetings_table(&meet.meetings, &named(&base), &named(&new));
            let text = form.text(("meetings", &table), &document, cells)?;
            put(text.as_bytes(), self.output.as_deref())?;
            return Ok(Exit::Done);
        }
        let diff = self.compared.diff(self.tolerance)?;
        if let Some(tolerance) = self.tolerance.filter(|_| is_exact(&diff)) {
            screen::warn(&format!(
                "--tolerance {tolerance} is ignored: figures in virtual time are exact, and count \
                 as equal within 1 %"
            ));
        }
        let text = form.text(
            ("diff", &diff_table(&diff)),
            &DiffDocument::of(&diff),
            cells,
        )?;
        put(text.as_bytes(), self.output.as_deref())?;
        Ok(Exit::Done)
    }
}

/// Whether all compared figures are exact, as in virtual time.
fn is_exact(diff: &Diff) -> bool {
    let mut compared = diff.with(|_| true);
    compared.all(|contrast| contrast.exact)
}
