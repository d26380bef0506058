//! Errors in a `claims.toml` or a `published.csv`.

use fslab_model::TomlError;

/// An error in one of the two files, with its position.
#[derive(Debug, thiserror::Error)]
pub enum OriginalError {
    /// The claims are not TOML, have an unknown key, or a claim is invalid.
    #[error("cannot use {file}")]
    Claims {
        file: String,
        /// The key and the error.
        source: TomlError,
    },
    /// The file is not CSV, or a row has another number of fields than the header.
    #[error("{file} is not readable as CSV")]
    Csv {
        file: String,
        /// The error, with its line.
        #[source]
        source: csv::Error,
    },
    /// The header differs.
    #[error("{file}, line 1: the columns are {found}; they must be {wanted}")]
    Columns {
        file: String,
        /// The columns that it has.
        found: String,
        /// The columns that it must have.
        wanted: String,
    },
    /// A row is invalid.
    #[error("{file}, line {line}: the column '{column}' {problem}")]
    Row {
        file: String,
        /// The line at which the row begins.
        line: u64,
        column: &'static str,
        /// The error, as a fragment that follows the column's name.
        problem: String,
    },
}
