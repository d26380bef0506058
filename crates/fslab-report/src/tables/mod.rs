//! The tables of a report, each a function of the analysis.

mod aged;
mod cells;
mod claims;
mod commands;
mod disk;
mod failures;
mod overview;
mod phase;
mod steps;
mod sweep;
mod trials;

pub use aged::aged;
pub(crate) use cells::absence_word;
pub use claims::{agreement, claims, counts, then_and_now, then_and_now_list};
pub use commands::commands;
pub use disk::disk;
pub use failures::failures;
pub(crate) use overview::phase_target;
pub use overview::{overview, overview_by_subject};
pub use phase::phase;
pub use steps::{durable, steps};
pub use sweep::sweep;
pub use trials::trials;
pub(crate) use trials::utc;
