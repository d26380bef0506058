//! Traces of programs: recording, their format, the order that they demand.
//!
//! Owns what happens to strace's words, the file that keeps a trace, and which operation must wait
//! for which. Issues none of a trace's operations: that is a workload's work.
//!
//! ```text
//!     command --strace--> lines --calls--> calls --translate--> events --\
//!     folder  --census before and after--------------------> files ------+--> Trace <--> a file
//!                                            Trace --schedule--> waits of every event
//! ```

mod arguments;
mod calls;
mod census;
mod error;
mod event;
mod file;
mod line;
mod operations;
mod path;
mod processes;
mod recording;
mod scene;
mod schedule;
mod tables;
mod trace;
mod translate;

pub use census::{Census, EntryKind, TreeEntry};
pub use error::TraceError;
pub use event::{CallOutcome, LinkTarget, Operation, Place, TraceEvent};
pub use file::{TRACE_BYTES_MAX, TRACE_FORMAT};
pub use path::TracePath;
pub use recording::{RecordRequest, Recorded, record};
pub use schedule::{Lane, Schedule, Step, Wait};
pub use trace::{FinalFile, Header, Trace};
pub use translate::{Translation, translate};
