//! What is issued: one file per workload below `workloads/`, and their registry.
//!
//! A workload turns parameters into jobs of the engine. It knows no file system, no device and no
//! cache; it neither prints nor summarises.

mod conformance;
mod parameters;
mod registry;
mod workload;
mod workloads;

pub use conformance::Problem;
pub use registry::{all, find, names};
pub use workload::{Finished, RunError, Workload, WorkloadError};
