//! The build of a C program with the machine's own compiler: one that is made from the seed, or
//! what a tarball of the user's holds.
//!
//! ```text
//!     plan (numbers) --> source (text) --> unpack, configure, make, install, clean --> its value
//!         \--------------------------------- what it must be -----------------------------/
//! ```

mod parameters;
mod plan;
mod source;
mod steps;
mod words;

pub(crate) use parameters::CompileParameters;
