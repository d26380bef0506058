//! The option --verbatim-cells, of every command that writes CSV.

use clap::Args;
use fslab_report::Cells;

/// How cells of CSV are written.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct CsvArgs {
    /// Write CSV cells unchanged. By default, a cell that is not a number and starts with =, +, -,
    /// @ or a tab is prefixed with an apostrophe, since spreadsheets would run it as a formula
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
