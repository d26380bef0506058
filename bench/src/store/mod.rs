//! The store at scale: what one run costs to list, show and report among a million trials of
//! others, and what a trial costs to store there.
//!
//! ```text
//!     args --- sequence --- filling     a store of many runs, through fslab-store alone
//!                       |-- commands    the real command, its time and its memory
//!                       '-- adding      a trial more, durably
//!              findings --- page        tables, and the page that is kept
//! ```

mod args;
mod commands;
mod filling;
mod findings;
mod page;
mod sequence;

pub(crate) use args::StoreArgs;
pub(crate) use page::page;
pub(crate) use sequence::measure;
