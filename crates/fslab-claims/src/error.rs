//! Why a `claims.toml` or a `published.csv` cannot be used.

/// What is wrong with one of the two files, and where.
#[derive(Debug, thiserror::Error)]
pub enum OriginalError {
    /// It is not TOML of this shape: the source names line, column and key.
    #[error("{file} is not readable as claims")]
    Syntax {
        /// The file.
        file: String,
        /// What TOML says.
        #[source]
        source: Box<toml::de::Error>,
    },
    /// A claim that makes no sense.
    #[error("{file}, line {line}: the claim '{claim}': the key '{key}' {problem}")]
    Claim {
        /// The file.
        file: String,
        /// The line at which the claim begins.
        line: usize,
        /// The claim's id.
        claim: String,
        /// The key.
        key: String,
        /// A fragment: what is wrong with it.
        problem: String,
    },
    /// Something outside any claim.
    #[error("{file}: the key '{key}' {problem}")]
    Key {
        /// The file.
        file: String,
        /// The key.
        key: String,
        /// A fragment: what is wrong with it.
        problem: String,
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
