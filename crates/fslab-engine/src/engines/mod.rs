//! One file for each engine: what it does between two readings of the clock.

mod digests;
mod mmap;
mod names;
mod null;
mod psync;
mod refusals;
mod stdio;
mod uring;

pub(crate) use mmap::MMAP;
pub(crate) use null::{NULL, NullTarget};
pub(crate) use psync::PSYNC;
pub(crate) use stdio::STDIO;
pub(crate) use uring::URING;
