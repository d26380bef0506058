//! The readers, one per format: from a text to a reading, or the first error.

pub(crate) mod bonnie;
pub(crate) mod bonnie_format;
mod command_line;
mod csv_known_by;
pub(crate) mod csv_rows;
pub(crate) mod csv_units;
pub(crate) mod fio;
pub(crate) mod fio_latency;
mod fio_side;
pub(crate) mod io500;
mod io500_result;
mod io500_summary;
pub(crate) mod ior;
mod ior_json;
pub(crate) mod ior_options;
mod ior_test;
mod ior_text;
pub(crate) mod iozone;
pub(crate) mod iozone_table;
pub(crate) mod iozone_test;
pub(crate) mod iozone_throughput;
mod json_documents;
pub(crate) mod mdtest;
mod mdtest_iterations;
mod mdtest_row;
mod origin;
pub(crate) mod run_json;
