//! The trace of a simulated disk: every request that it answered, with where its time went, as the
//! driver in the guest kernel writes it down.
//!
//! Owns the file's format, and what a trace says of a span of time. What the spans are, the trial
//! knows; what is shown of it, the report.
//!
//! ```text
//!     file --> Reader --> Record... --> analyse --> a DeviceInsight for each window, and the whole
//!                                          |-- Queue     how deep the disk's queue was
//!                                          '-- Tally     the counts of a window, with its Canvas
//! ```

mod analysis;
mod canvas;
mod error;
mod queue;
mod reader;
mod record;
mod schedule;
mod tally;
mod writer;

pub use analysis::{TraceInsight, analyse};
pub use error::DiskTraceError;
pub use reader::Reader;
pub use record::{Flags, Op, Record};
pub use writer::Writer;
