//! The output formats that `diff` and `gate` share.

use clap::ValueEnum;
use fslab_report::Table;
use serde::Serialize;

use crate::exit::CommandError;
use crate::screen;

/// Output formats: a table, or a document with every figure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum Form {
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

impl Form {
    /// The output in this format.
    pub(super) fn text(
        self,
        table: &Table,
        document: &impl Serialize,
    ) -> Result<String, CommandError> {
        Ok(match self {
            Self::Table => screen::render(table),
            Self::Markdown => table.to_markdown(),
            Self::Csv => table.to_csv()?,
            Self::Json => screen::json(document)?,
        })
    }
}
