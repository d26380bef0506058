//! A guest kernel: how it is booted, what it shares with the host, what its first process does.

mod boot;
mod full_disk;
mod helper_watch;
mod init;
mod insight;
mod overlay;
mod share;
mod shell;
mod words;

pub use boot::GuestSettings;
pub(crate) use boot::{Clock, Guest};
pub(crate) use full_disk::name_full_disk;
pub(crate) use helper_watch::HelperWatch;
pub(crate) use init::{DISK, MOUNT_POINT, SIMULATED_DISK};
pub use init::{GuestTask, run_as_init};
pub(crate) use insight::add_insight;
pub(crate) use share::{Share, TrialStatus};
pub use shell::{ShellRequest, run_shell};
pub(crate) use words::last_words;
