//! The output formats that `diff` and `gate` share.

use clap::ValueEnum;
use fslab_report::{Cells, Table};
use serde::Serialize;

use crate::exit::CommandError;
use crate::terminal::{screen, table};

/// Output formats: a table, or a document with every figure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    /// A table for the terminal
    #[default]
    Table,
    /// A table in Markdown
    Markdown,
    /// A table in CSV
    Csv,
    /// A table in LaTeX, with booktabs
    Latex,
    /// Every figure, in JSON
    Json,
}

impl Form {
    /// The output in this format; LaTeX under `label`.
    pub(crate) fn text(
        self,
        (label, table): (&str, &Table),
        document: &impl Serialize,
        cells: Cells,
    ) -> Result<String, CommandError> {
        Ok(match self {
            Self::Table => table::render(table),
            Self::Markdown => table.to_markdown(),
            Self::Csv => table.to_csv(cells)?,
            Self::Latex => table.to_latex(label),
            Self::Json => screen::json(document)?,
        })
    }
}
