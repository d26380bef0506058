//! The writers: a run in another tool's format. The CSV of bonnie++ and the report of Iozone are
//! figures of a report, so `fslab-report` has their writers.

mod csv_wide;
mod error;
mod fio_json;
mod fio_sides;
mod left_out;
mod parquet;

pub use csv_wide::csv_wide;
pub use error::ExportError;
pub use fio_json::fio_json;
pub use left_out::{bonnie_left_out, iozone_left_out};
pub use parquet::parquet;
