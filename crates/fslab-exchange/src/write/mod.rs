//! The writers: a run in the form of another tool. Those that lay out a figure of the report, the
//! CSV of bonnie++ and the report of Iozone, stand there.

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
