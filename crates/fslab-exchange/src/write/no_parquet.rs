//! In place of the writer of Parquet where fslab is built without it.

use fslab_model::{Failure, RunRecord};

/// The long table as Parquet.
pub fn parquet(_: &RunRecord) -> Result<Vec<u8>, Failure> {
    Err(Failure::bad_input(
        "cannot write the run as Parquet: fslab was built without the feature 'parquet'",
    ))
}
