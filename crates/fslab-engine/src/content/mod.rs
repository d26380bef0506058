//! What is written into files, and whether it comes back.
//!
//! The content of a file is a pure function of seed, file, generation and offset, whatever the
//! records are in which it is written:
//!
//! ```text
//!     pool   | block 0 | block 1 | ... | block n-1 | block 0 again ...   random, made once
//!     file   | stamp, rest of block k | stamp, rest of block k+1 | ...
//!            k follows from the file and its generation
//! ```
//!
//! So a record is one slice of the pool whose stamps are set in place: writing copies nothing and
//! makes no random number, and a block that is read back is compared with memory.

mod choice;
mod pool;
mod stamp;

pub use choice::Content;
pub(crate) use pool::{DataPool, FileIdentity};
