//! In place of the writer of Parquet where fslab is built without it.

use fslab_model::RunRecord;

use super::ExportError;

/// The long table as Parquet.
pub fn parquet(_: &RunRecord) -> Result<Vec<u8>, ExportError> {
    Err(ExportError::NoParquet)
}
