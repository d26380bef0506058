//! Errors of writing a run in another tool's format.

use fslab_model::{Failure, FailureKind};

/// Why a run could not be written.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The Parquet library failed.
    #[cfg(feature = "parquet")]
    #[error("cannot write the run as Parquet")]
    Parquet(#[from] parquet::errors::ParquetError),
    /// This build has no writer of Parquet.
    #[cfg(not(feature = "parquet"))]
    #[error("cannot write the run as Parquet: fslab was built without the feature 'parquet'")]
    NoParquet,
    /// A row could not be written.
    #[error("cannot write the table as CSV")]
    Csv(#[from] csv::Error),
    /// A record could not be written as JSON.
    #[error("cannot write the run as JSON")]
    Json(#[from] serde_json::Error),
    /// The run has nothing that fio's format can hold.
    #[error("fio's format needs phases with a duration and a number of operations")]
    Fio,
    /// The run has nothing that IOR could have run.
    #[error("IOR's format needs phases that write or read files, with bandwidth and duration")]
    Ior,
    /// The run has nothing that mdtest could have run.
    #[error("mdtest's format needs phases on the names of files, with a rate of operations")]
    Mdtest,
    /// The run has no phase of IO500.
    #[error("IO500's format needs phases with IO500's names, as in the study 'io500'")]
    Io500,
}

impl From<ExportError> for Failure {
    fn from(error: ExportError) -> Self {
        Self::of_error(FailureKind::BadInput, &error)
    }
}
