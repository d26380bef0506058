//! Workloads that run real programs: any command, the build of a C program, git, a web server.
//!
//! ```text
//!     command              \
//!     compile (sh, cc, make) > session --> fslab-sys::ChildGroup --> figures
//!     git, pgbench          /
//!     web (nginx, apache2, embedded) <-- clients: requests are timed
//! ```
//!
//! A program works below the root of the measured file system: directory, home and temporary files
//! are there; a server's configuration and log are elsewhere. fslab's own calls are confined to the
//! tree; programs and their clients run outside of that confinement, with the host's root. Texts of
//! a study that programs interpret need the user's permission: see [`permission`].

mod command;
pub(crate) mod compile;
mod error;
mod figures;
pub(crate) mod git;
mod links;
mod locate;
mod permission;
pub(crate) mod pgbench;
mod plain_text;
mod script;
mod server_folder;
mod session;
pub(crate) mod web;

pub(crate) use command::CommandParameters;
pub use error::ProgramError;
pub use permission::ensure_programs_allowed;
pub(crate) use permission::{Permission, ProgramParameters};
