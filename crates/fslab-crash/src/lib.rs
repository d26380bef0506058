//! Logs of simulated disks, and the states that a power loss may leave of them.
//!
//! ```text
//!     recording of the driver + trace  --join-->  DiskLog  --write, read-->  a file
//!     DiskLog  --states-->  CrashState  --image-->  what the disk holds
//! ```
//!
//! A log has every write of a trial with its data, every flush and discard, each with the virtual
//! times of its submission and completion. A state is a time at which power fails, and which of
//! the writes that the disk need not keep at that time it kept.
//!
//! Pure: no file system, no guest. Logs are input from strangers; a reader bounds all that it
//! takes.

mod contents;
mod error;
mod file;
mod image;
mod join;
mod log;
mod recording;
mod states;

pub use contents::{BLOCK_BYTES, BlockId, Contents};
pub use error::LogError;
pub use file::{LogLimits, read_log, write_log};
pub use image::{Piece, pieces};
pub use join::join;
pub use log::{DiskLog, LogHead, LogRequest, PhaseWindow, RequestKind};
pub use recording::{RecordedEntry, RecordedKind, Recording};
pub use states::{
    Budget, CrashState, DiskCache, KindCount, Loss, Moment, StateKind, States, enumerate, moments,
};
