//! The conformance suite: requirements of every file system, and the promises of its entry. Probes,
//! which find out what a file system does, are in `probe`.
//!
//! ```text
//!     exercise = survey --> script (data, names) on the disk --> semantics --> audit
//!     verify   = survey --> the same script without a disk   ---------------> audit
//!     fill     = files until ENOSPC, space freed and used again
//!     script   = operations with their times, for judging what a power loss leaves
//!     facts    = what the driver keeps, refuses and sends to the device, for the catalogue
//! ```
//!
//! The script is a function of the seed, the parameters and the survey: no state is kept between
//! the phases, so that nothing stored on the file system is trusted.

mod abilities;
mod audit;
mod check_context;
mod content;
mod data_script;
mod executor;
mod facts;
mod failure;
mod filling;
mod jobs;
mod name_script;
mod parameters;
mod probe;
mod scale;
mod script_job;
mod semantics;
mod space_wait;
mod step_player;
mod suite;
mod survey;
mod survey_names;
mod table;
mod tree;
mod writer;

pub use step_player::StepPlayer;
pub use table::CONFORMANCE_JOBS;
