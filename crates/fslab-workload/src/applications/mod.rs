//! What applications do to files: SQLite's commits, and filebench's everyday personalities.
//!
//! ```text
//!     fileset    directories and files, their sizes, which of them are there
//!     flows      what a thread does to one file: create, append, read, delete, ...
//!     fileserver, webserver, mailserver   loops of flows, by a crew of threads
//!     oltp       readers, writers and a log that wait for each other
//!     database   SQLite's transactions
//! ```
//!
//! The personalities follow the published descriptions of filebench 1.5: their numbers and the
//! order of their operations. Which file comes next follows from the seed and the thread, not from
//! a list that threads share: every thread has its own part of the files.

mod database;
mod fileserver;
mod fileset;
mod flows;
mod imagined;
mod mailserver;
mod oltp;
mod parameters;
mod personality;
mod webserver;

pub(crate) use database::{DatabaseParameters, commit_transactions};
pub(crate) use fileserver::FileServer;
pub(crate) use imagined::imagined;
pub(crate) use mailserver::MailServer;
pub(crate) use oltp::{OltpParameters, serve_transactions};
pub(crate) use parameters::{Part, PersonalityParameters};
pub(crate) use personality::play;
pub(crate) use webserver::WebServer;
