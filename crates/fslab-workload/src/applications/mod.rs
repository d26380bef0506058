//! What applications do to files: SQLite's commits, and filebench's everyday personalities.
//!
//! ```text
//!     fileset    directories and files, their sizes, which of them are there
//!     flows      what a thread does to one file: create, append, read, delete, ...
//!     flow       the loop of a personality as data: which file, which operations
//!     personality   loops of flows, by threads that take them from one pool
//!     oltp       readers, writers and a log that wait for each other
//!     database   SQLite's transactions
//! ```
//!
//! The personalities follow the published descriptions of filebench 1.5: their numbers and the
//! order of their operations. Which file comes next follows from the seed and the thread, not from
//! a list that threads share: every thread has its own part of the files.

mod database;
mod fileset;
mod flow;
mod flows;
mod oltp;
mod parameters;
mod personality;
mod synthetic;

pub(crate) use database::DatabaseParameters;
pub(crate) use oltp::OltpParameters;
pub(crate) use parameters::{Part, PersonalityParameters};
pub(crate) use synthetic::synthetic_application;
