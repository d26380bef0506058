//! The trace of a simulated disk: every request with the parts of its time, as the driver in the
//! guest kernel records it.
//!
//! Owns the file format and the computation of insights for windows of time. The trial defines the
//! windows, the report shows the insights.
//!
//! ```text
//!     file --> Reader --> Record... --> analyse --> a DeviceInsight for each window, and for all
//!                                          |-- Queue     queue depth over time
//!                                          '-- Tally     counts of a window, with its Canvas
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

pub use analysis::{TraceInsight, analyse, analyse_all};
pub use error::DiskTraceError;
pub use reader::Reader;
pub use record::{Flags, Op, Record};
pub use writer::Writer;
