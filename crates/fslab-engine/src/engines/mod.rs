//! The engines, one per file: the operations between two clock readings.

mod calls;
mod digests;
mod gathering;
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
pub(crate) use refusals::refuse_lacking_syncs;
pub(crate) use stdio::STDIO;
pub(crate) use uring::URING;
