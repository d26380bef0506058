//! In place of the writer of Parquet where fslab is built without it.

use fslab_model::RunRecord;

use super::ExportError;

/// The long table as Parquet.
///
/// # Errors
///
/// Always: this build has no such writer.
pub fn parquet(_: &RunRecord) -> Result<Vec<u8>, ExportError> {
    Err(ExportError::NoParquet)
}
