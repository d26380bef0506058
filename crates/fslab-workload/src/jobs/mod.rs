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
mod trees;

pub(crate) use clear::ClearParameters;
pub(crate) use data::DataParameters;
pub(crate) use disk_image::DiskImageParameters;
pub(crate) use fifo::FifoParameters;
pub(crate) use files::FilesParameters;
pub(crate) use io::IoParameters;
pub(crate) use parallel::ParallelParameters;
pub(crate) use seeks::SeeksParameters;
pub(crate) use sized_files::SizedFilesParameters;
pub(crate) use small_files::SmallFilesParameters;
pub(crate) use trees::TreesParameters;
