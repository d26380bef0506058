//! One file for each engine: what it does between two readings of the clock.

mod names;
mod null;
mod psync;

pub(crate) use null::NULL;
pub(crate) use psync::PSYNC;
