//! Judges in guests what a power loss or a failing disk leaves of a recorded disk.
//!
//! ```text
//!     states, faults --> boot: one guest for many states --> guest: its process and messages
//!                        files: what guest and host share     plan_file: how the disk fails
//! ```

mod boot;
mod faults;
mod files;
mod guest;
mod plan_file;
mod states;

pub use faults::{FaultJudge, FaultlessRun, judge_faults};
pub use states::{STATE_LIMIT, StateJudge, StateJudgeSettings, examine};
