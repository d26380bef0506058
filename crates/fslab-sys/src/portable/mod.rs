//! What the standard library alone does, for the platforms without such modules.

mod atomic_file;
mod medium;
mod no_processes;
mod output_folder;
mod work;
mod write_back;

pub use atomic_file::{AtomicFile, private_folder, try_create_in, write_atomically};
pub use medium::memory_below;
pub use no_processes::processes;
pub use output_folder::OutputFolder;
pub use work::{SharedCounter, WorkerProcess, WorkerSide};
pub use write_back::{WriteBackWatch, sync_file_system};
