//! The job `git`: a repository made from the seed is cloned, looked at, switched, committed to and
//! repacked by the machine's git.
//!
//! ```text
//!     history (fast-import stream) --> create, clone, status, checkout, commit, gc --> checked
//! ```

mod history;
mod job;
mod parameters;
mod steps;

pub(crate) use parameters::GitParameters;
