//! What a phase does, in the words of every format, and which phases of two runs meet by it.
//!
//! ```text
//!     PhaseSpec --content--> PhaseContent (activity, conditions)   a table for each format
//!     two runs, --map  --> matching --> Meetings           by activity, then name, then conditions
//! ```
//!
//! The tables are the one home of the mapping; docs/exchange.md shows them.

mod activity;
mod bonnie;
mod condition;
mod content;
mod directions;
mod diskspd;
mod elbencho;
mod fio;
mod fs_mark;
mod fslab;
mod ior;
mod iozone;
mod matching;
mod mdtest;
mod phase_content;
mod prepared;
mod sharing;
mod smallfile;
mod sysbench;

pub use activity::Activity;
pub use content::content;
pub(crate) use fslab::{activity, complete, data_amount, data_sync};
pub use matching::PhaseMap;
pub use phase_content::PhaseContent;
pub use prepared::{Gathered, Meet, as_compared, gather, meet};
