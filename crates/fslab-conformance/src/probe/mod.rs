//! Probes: phases that find out what a file system does, not how fast.
//!
//! ```text
//!     prefetch       resident pages (or read times) --> readahead windows
//!     inline-probe   Observation --> Evidence --> threshold --> trees of files at and above it
//!     inline-read    reads those trees --> gain
//! ```
//!
//! They use mincore(2), FIEMAP and device counters besides the clock; a note says which of them
//! decided.

mod evidence;
mod inline;
mod inline_gain;
mod jobs;
mod parameters;
mod readahead;
mod recorder;
mod waits;

pub(crate) use parameters::{InlineParameters, PrefetchParameters};
