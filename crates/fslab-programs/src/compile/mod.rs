//! The job `compile`: builds a C program with the machine's compiler, either one generated from the
//! seed or the content of the user's tarball.
//!
//! ```text
//!     plan (numbers) --> source (text) --> unpack, configure, make, install, clean --> output
//!         \------------------------------- expected output ----------------------------/
//! ```

mod job;
mod parameters;
mod plan;
mod source;
mod steps;
mod words;

pub(crate) use parameters::CompileParameters;
