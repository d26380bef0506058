//! Guest kernels: booting, files shared with the host, init.

mod boot;
mod fault_judge;
mod helper_watch;
mod init;
mod insight;
mod judging_guest;
mod kernel_errors;
mod overlay;
mod pc;
mod pc_files;
mod pc_start;
mod plan_file;
mod recording;
mod share;
mod shell;
mod state_boot;
mod state_files;
mod state_judge;

pub(crate) use boot::{Clock, Guest};
pub use boot::{GuestSettings, PcSettings};
pub use fault_judge::{FaultJudge, FaultlessRun, judge_faults};
pub(crate) use helper_watch::HelperWatch;
pub(crate) use init::{DISK, MOUNT_POINT, SIMULATED_DISK};
pub use init::{GuestTask, run_as_init};
pub(crate) use insight::add_insight;
pub(crate) use kernel_errors::kernel_errors;
pub use pc::{Emulator, EmulatorError, check_snapshots};
pub use recording::{KeptLogs, LogKeeping};
pub(crate) use recording::{Recorded, keep_log};
pub(crate) use share::{Share, TrialStatus};
pub use shell::{ShellRequest, run_shell};
pub use state_judge::{STATE_LIMIT, StateJudge, StateJudgeSettings, examine};
