//! Jobs that the engine runs: data jobs (reads and writes of files) and metadata jobs (many files).

mod clear;
mod data;
mod disk_image;
mod fifo;
mod files;
mod io;
mod parallel;
mod seeks;
mod size_series;
mod sized_files;
mod small_files;
mod table;
mod trees;

pub use table::ENGINE_JOBS;
