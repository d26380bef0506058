//! Jobs of real programs (any command, the build of a C program, git, a database, a web server) and
//! of applications whose operations fslab issues itself.
//!
//! ```text
//!     command              \
//!     compile (sh, cc, make) > session --> fslab-sys::ChildGroup --> figures
//!     git, pgbench          /
//!     redundancy (mdadm, btrfs): a disk fails, is rebuilt, is scrubbed
//!     web (nginx, apache2, embedded) <-- clients: requests are timed
//!     applications (SQLite, filebench's personalities): no program is started
//! ```
//!
//! A program works below the root of the measured file system: directory, home and temporary files
//! are there; a server's configuration and log are elsewhere. fslab's own calls are confined to the
//! tree; programs and their clients run outside of that confinement, with the host's root. Texts of
//! a study that programs interpret need the user's permission: see `permission.rs`.

mod applications;
mod command;
mod compile;
mod error;
mod figures;
mod git;
mod links;
mod locate;
mod md_array;
mod permission;
mod pgbench;
mod plain_text;
mod private_folder;
mod redundancy;
#[cfg(test)]
mod resolved;
mod session;
mod shell_script;
mod table;
mod web;

pub use applications::read_database;
pub use permission::{ALLOW_PROGRAMS_HINT, shown_text};
pub use private_folder::remove_stale_folders;
pub use redundancy::FAIL_DISK;
pub use table::PROGRAM_JOBS;
