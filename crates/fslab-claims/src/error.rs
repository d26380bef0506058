//! Why a `claims.toml` or a `published.csv` cannot be used.

use fslab_model::TomlError;

/// What is wrong with one of the two files, and where.
#[derive(Debug, thiserror::Error)]
pub enum OriginalError {
    /// It is not TOML of this shape, or a claim that makes no sense.
    #[error("cannot use {file}")]
    Claims {
        /// The file.
        file: String,
        /// What is wrong with which key.
        source: TomlError,
    },
    /// It is not CSV, or a row has another number of fields than the header.
    #[error("{file} is not readable as CSV")]
    Csv {
        /// The file.
        file: String,
        /// What is wrong with it, with its line.
        #[source]
        source: csv::Error,
    },
    /// The header has other columns.
    #[error("{file}, line 1: the columns are {found}; they must be {wanted}")]
    Columns {
        /// The file.
        file: String,
        /// What it has.
        found: String,
        /// What it must have.
        wanted: String,
    },
    /// A row that makes no sense.
    #[error("{file}, line {line}: the column '{column}' {problem}")]
    Row {
        /// The file.
        file: String,
        /// The line at which the row begins.
        line: u64,
        /// The column.
        column: &'static str,
        /// A fragment: what is wrong with it.
        problem: String,
    },
}
