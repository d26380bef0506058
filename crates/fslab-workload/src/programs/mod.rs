//! Workloads that are real programs: any command, the build of a C program, a web server.
//!
//! ```text
//!     command              \
//!     compile (sh, cc, make) > session --> fslab-sys::ChildGroup --> figures
//!     web (nginx, apache2, one of ours) <-- clients: the requests are what is timed
//! ```
//!
//! A program works below the root of the file system and nowhere else: directory, home and
//! temporary files are there. What belongs to a server, its configuration and its log, is not. What
//! fslab itself does to the tree is confined to it; a program is started outside, with the host's
//! root, and so are its clients. What of a study programs would interpret needs the leave of who
//! runs it: see [`allowance`].

mod allowance;
mod command;
pub(crate) mod compile;
mod error;
mod figures;
mod links;
mod locate;
mod plain_text;
mod script;
mod session;
pub(crate) mod web;

pub use allowance::demand_leave;
pub(crate) use allowance::{Leave, ProgramParameters};
pub(crate) use command::CommandParameters;
pub use error::ProgramError;
pub(crate) use figures::cpu_use;
