//! The data written to files, and its verification.
//!
//! A file's contents are a pure function of seed, file, generation and offset, independent of the
//! records written:
//!
//! ```text
//!     pool   | block 0 | block 1 | ... | block n-1 | block 0 again ...   random, made once
//!     file   | stamp, rest of block k | stamp, rest of block k+1 | ...
//!            k follows from the file and its generation
//! ```
//!
//! So a record is one slice of the pool with its stamps set in place: writing needs no copy and no
//! random numbers, and verification compares with memory.

mod choice;
mod pool;
mod stamp;

pub use choice::Content;
pub(crate) use pool::{DataPool, FileIdentity, SharedPool};
