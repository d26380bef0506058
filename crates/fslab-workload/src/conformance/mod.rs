//! The conformance suite: what every file system must do, and what its entry promises.
//!
//! ```text
//!     exercise = survey --> script (data, names) on the disk --> manners --> audit
//!     verify   = survey --> the same script without a disk   -------------> audit
//!     fill     = files until nothing fits, room given back and taken again
//! ```
//!
//! The script is a function of the seed, the parameters and what the survey found: nothing is noted
//! between the phases, and so nothing that the file system keeps is trusted.

mod abilities;
mod audit;
mod check_context;
mod content;
mod data_script;
mod failure;
mod filling;
mod manners;
mod name_script;
mod parameters;
mod patience;
mod scale;
mod stage;
mod suite;
mod survey;
mod tree;
mod writer;

pub(crate) use content::generate;
pub use failure::ConformanceFailure;
pub(crate) use parameters::{FillParameters, TreeParameters};
