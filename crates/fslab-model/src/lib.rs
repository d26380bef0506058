//! fslab's domain types: units, subjects, studies, plans, trials, events, records, metrics.
//!
//! Owns every format that crosses a process or version border. Does no I/O and reads no clock: all
//! types are values, the same on every machine.
//!
//! ```text
//!     Study --(resolve, fslab-run)--> Plan --> Cell --> TrialSpec --(fslab trial)--> Event...
//!                                                                                      |
//!     Metric <-- PhaseRecord <-- TrialRecord <--------------(RecordBuilder)------------+
//! ```

#![warn(missing_docs)]

mod disks;
mod plans;
mod records;
mod studies;
mod subjects;
mod text;
mod units;

pub use disks::*;
pub use plans::*;
pub use records::*;
pub use studies::*;
pub use subjects::*;
pub use text::*;
pub use units::*;

/// Version of every JSON document of this crate: trial specifications, events, plans.
///
/// A reader refuses versions above its own.
pub const FORMAT_VERSION: u32 = 1;

/// A map of parameters, in the order of declaration.
pub type Parameters = serde_json::Map<String, serde_json::Value>;
