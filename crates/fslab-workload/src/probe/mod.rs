//! Probes: phases that find out what a file system does, rather than how fast.
//!
//! ```text
//!     prefetch       Residency --> Reading --> windows   (or Waiting --> windows, by the time)
//!     inline-probe   Bench --> Seen --> Evidence --> threshold --> trees at it and above it
//!     inline-read    those trees --> gain
//! ```
//!
//! They look at the kernel's answers (mincore, FIEMAP, counters of the device) besides the clock,
//! and say in a note which of them decided.

mod bench;
mod evidence;
mod inline;
mod inline_gain;
mod parameters;
mod readahead;
mod waits;

pub(crate) use parameters::{InlineParameters, PrefetchParameters};
