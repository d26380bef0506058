//! Traces of programs: recording, file format, ordering constraints.
//!
//! Owns the parsing of strace's output, the trace file, and the schedule (which operation waits for
//! which). Issues no operation of a trace: the workload `replay` does.
//!
//! ```text
//!     command --strace--> lines --calls--> calls --translate--> events --\
//!     directory  --listed before and after--------------------> files ------+--> Trace <--> file
//!     iolog, blkparse, strace of others --ForeignTrace--------------------------> Trace
//!                                            Trace --schedule--> waits of each event
//! ```

mod arguments;
mod block_trace;
mod call_context;
mod calls;
mod error;
mod event;
mod file;
mod folder_listing;
mod foreign;
mod inferred;
mod iolog;
mod line;
mod operations;
mod path;
mod processes;
mod recording;
mod schedule;
mod strace_text;
mod tables;
mod trace;
mod translate;
mod translation;

pub use event::{CallOutcome, LinkTarget, Operation, Place, TraceEvent};
pub use file::{TRACE_BYTES_MAX, TRACE_FORMAT};
pub use folder_listing::FinalFile;
pub use folder_listing::{EntryKind, TreeEntry};
pub use foreign::ForeignTrace;
pub use path::TracePath;
pub use recording::{RecordRequest, Recorded, record};
pub use schedule::{Lane, Schedule, Step, Wait};
pub use trace::{Header, Trace};
pub use translate::translate;
pub use translation::Translation;
