//! The writers: a run in another tool's format. The CSV of bonnie++ and the report of Iozone are
//! figures of a report, so `fslab-report` has their writers.

mod calendar;
mod csv_wide;
mod fio_json;
mod fio_sides;
mod io500_score;
mod io500_text;
mod ior_json;
mod ior_shape;
mod left_out;
mod mdtest_text;
#[cfg(not(feature = "parquet"))]
mod no_parquet;
#[cfg(feature = "parquet")]
mod parquet;
mod repeat_summary;

pub use csv_wide::csv_wide;
pub use fio_json::fio_json;
pub use io500_text::{io500_result, io500_summary};
pub use ior_json::ior_json;
pub use left_out::{bonnie_left_out, iozone_left_out};
pub use mdtest_text::mdtest_text;
#[cfg(not(feature = "parquet"))]
pub use no_parquet::parquet;
#[cfg(feature = "parquet")]
pub use parquet::parquet;
