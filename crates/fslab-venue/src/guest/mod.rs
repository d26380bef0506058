//! Guest kernels: booting, files shared with the host, init.

mod boot;
mod helper_watch;
mod init;
mod insight;
mod kernel_errors;
mod overlay;
mod pc;
mod pc_files;
mod pc_start;
mod recording;
mod settings;
mod share;
mod shell;

pub(crate) use boot::{Clock, Guest};
pub(crate) use helper_watch::HelperWatch;
pub use init::{GuestTask, run_as_init};
pub(crate) use init::{MOUNT_POINT, STATUS, disk_path, simulated_disk_path};
pub(crate) use insight::add_insight;
pub(crate) use kernel_errors::kernel_errors;
pub use pc::{Emulator, EmulatorError, check_snapshots};
pub use recording::{KeptLogs, LogKeeping};
#[cfg(test)]
pub(crate) use recording::{RECORDER, RECORDER_FILE};
pub(crate) use recording::{Recorded, WRITES, keep_log};
pub use settings::{GuestSettings, PcSettings};
pub(crate) use share::{Share, TrialStatus};
pub use shell::{ShellRequest, run_shell};
