//! What a trial may report, as it follows from its specification.
//!
//! ```text
//!     specification --> ExpectedRecord --ensure_phase-->  the phases, one by one
//!                             |        --ensure_whole-->  a complete record of a worker
//!                             '------- bounds ---------->  lines and bytes that are read
//! ```
//! Invariant: who reports is not trusted. A process in a guest may be the study's own program, and
//! a worker is another machine: what does not match is refused before it is kept.

mod bounds;
mod event_check;
mod figures;
mod record;

pub use bounds::OutputBounds;
pub(crate) use event_check::EventCheck;
pub use figures::quoted;
pub use record::ExpectedRecord;
