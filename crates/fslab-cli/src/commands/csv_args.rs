//! The option --verbatim-cells, of every command that writes CSV.

use clap::Args;
use fslab_report::Cells;

/// How cells of CSV are written.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct CsvArgs {
    /// In CSV, write also those texts as they are that a spreadsheet would take for formulas:
    /// otherwise an apostrophe stands before a text that begins with =, +, -, @ or a tab and is no
    /// figure
    #[arg(long, help_heading = "Output")]
    verbatim_cells: bool,
}

impl CsvArgs {
    pub(crate) fn cells(self) -> Cells {
        match self.verbatim_cells {
            true => Cells::Verbatim,
            false => Cells::Guarded,
        }
    }
}
