//! The tables of a report, each a function of the analysis.

mod aged;
mod cells;
mod certainty;
mod claims;
mod commands;
mod components;
mod diagnosis;
mod disk;
mod failures;
mod overall;
mod overview;
mod phase;
mod spread;
mod steps;
mod sweep;
mod trials;

pub use aged::aged;
pub(crate) use cells::absence_word;
pub use certainty::certainty;
pub use claims::{agreement, claims, counts, then_and_now, then_and_now_list};
pub use commands::commands;
pub use components::components;
pub use diagnosis::diagnosis;
pub(crate) use diagnosis::kind;
pub use disk::disk;
pub use failures::failures;
pub use overall::overall;
pub(crate) use overview::phase_target;
pub use overview::{overview, overview_by_subject};
pub use phase::phase;
pub use spread::spread;
pub(crate) use steps::durable_throughput;
pub use steps::{durable, steps};
pub use sweep::sweep;
pub use trials::trials;
pub(crate) use trials::utc;
