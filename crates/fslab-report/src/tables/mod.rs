//! The tables of a report, each a function of the analysis.

mod cells;
mod commands;
mod disk;
mod failures;
mod overview;
mod phase;
mod steps;
mod trials;

pub use commands::commands;
pub use disk::disk;
pub use failures::failures;
pub(crate) use overview::phase_target;
pub use overview::{overview, overview_by_subject};
pub use phase::phase;
pub use steps::{durable, steps};
pub use trials::trials;
pub(crate) use trials::utc;
