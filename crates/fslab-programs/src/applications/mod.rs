//! Workloads of applications: SQLite's commits and filebench's personalities.
//!
//! ```text
//!     fileset    directories and files, their sizes, which of them exist
//!     flows      operations of a thread on one file: create, append, read, delete, ...
//!     flow       the loop of a personality as data: which file, which operations
//!     personality   threads that run the loop, taking iterations from one pool
//!     oltp       readers, writers and a log; oltp_progress couples them
//!     database   SQLite's transactions
//! ```
//!
//! The personalities follow the published descriptions of filebench 1.5: numbers and order of
//! operations. Each thread has its own part of the files and chooses from it by the seed, not from
//! a list that threads share.

mod database;
mod fileset;
mod flow;
mod flows;
mod job;
mod oltp;
mod oltp_progress;
mod parameters;
mod personality;

pub(crate) use database::DatabaseParameters;
pub use database::read_database;
pub(crate) use oltp::OltpParameters;
pub(crate) use parameters::PersonalityParameters;
