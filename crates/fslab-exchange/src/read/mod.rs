//! The readers, one per format: from a text to a reading, or the first error.

pub(crate) mod bonnie;
pub(crate) mod bonnie_format;
mod csv_known_by;
mod csv_places;
pub(crate) mod csv_rows;
pub(crate) mod csv_units;
pub(crate) mod fio;
pub(crate) mod fio_latency;
mod fio_side;
pub(crate) mod iozone;
mod iozone_reports;
pub(crate) mod iozone_table;
pub(crate) mod iozone_throughput;
pub(crate) mod json_documents;
pub(crate) mod json_fields;
pub(crate) mod mdtest;
pub(crate) mod run_json;
