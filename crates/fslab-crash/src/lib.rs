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
//! The log of a script of operations says what each was and when, so an [`Oracle`] derives what
//! must be there in a state, and that of a database which commits were acknowledged:
//!
//! ```text
//!     LogScript, LogDatabase, StateReport --Judge--> JudgedState --survival()--> Survival
//! ```
//!
//! Pure: no file system, no guest. Logs are untrusted; a reader bounds all that it
//! takes.

mod contents;
mod database;
mod drop_flushes;
mod error;
mod examination;
pub mod faults;
mod faulty_report;
mod file;
mod image;
mod join;
mod judged;
mod log;
mod log_survival;
mod minimise;
mod observed;
mod oracle;
mod promises;
mod properties;
mod recording;
mod script_log;
mod script_set;
mod script_steps;
mod sequences;
mod state_fault;
mod state_report;
mod states;
mod view;

pub use contents::{BLOCK_BYTES, BlockId, BlockList, Contents};
pub use database::{COMMIT_TIMES, DatabaseReport, LogDatabase};
pub use drop_flushes::{DroppedFlushes, original_state, remaining_requests};
pub use error::LogError;
pub use examination::{Examination, FlushDrop, StateChoice};
pub use faulty_report::{FaultyReport, StepError};
pub use file::{LogLimits, read_log, read_outline, write_log};
pub use image::{Piece, pieces};
pub use join::join;
pub use judged::{Judge, JudgedRepair, JudgedState, PropertyPlace};
pub use log::{DiskLog, LogHead, LogOutline, LogRequest, PhaseWindow, RequestKind};
pub use log_survival::{FailingState, PromisedBy, survival};
pub use minimise::minimise;
pub use observed::{Observed, ObservedEntry, ObservedFile, SectorRun};
pub use oracle::{Oracle, UnsyncedLoss};
pub use promises::{Promise, Promises};
pub use recording::{RecordedEntry, RecordedKind, Recording};
pub use script_log::{LogOperation, LogScript, Property};
pub use script_set::{SCRIPT_LEFT_OUT, SCRIPT_REFUSED, SCRIPT_TIMES, Script, ScriptSet};
pub use script_steps::{
    DataChange, ParseStepError, ScriptPlan, ScriptStep, SectorContent, SectorOrigin, StepName,
    plan_of, script_number,
};
pub use sequences::LENGTH_MAX;
pub use state_fault::StateFault;
pub use state_report::{
    Databases, RepairReport, StateCheck, StateMessage, StateOutcome, StatePart, StateReport,
    StateTask,
};
pub use states::{Budget, CrashState, DiskCache, Loss, Moments, States, TooManyMoments};
pub use view::StateView;
