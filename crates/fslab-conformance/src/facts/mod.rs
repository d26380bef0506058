//! Facts of a file system: what its driver keeps, cuts, refuses and sends to the device, found by
//! trying it. `fslab_model::FILE_SYSTEM_FACTS` lists them.
//!
//! ```text
//!     probe     names, calls, space, syncs ------------> facts
//!               times, nodes, data -- remount --> recall: what is left of them
//! ```
//!
//! The recall knows what the probe saw from the files themselves.

mod calls;
mod job;
mod names;
mod parameters;
mod remembered;
mod sheet;
mod space;
mod syncs;
mod times;

pub(crate) use parameters::FactsParameters;
