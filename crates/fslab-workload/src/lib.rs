//! What is issued: one file per workload below `workloads/`, and their registry.
//!
//! A workload turns parameters into jobs of the engine. It knows no file system, no device and no
//! cache; it neither prints nor summarises.

mod applications;
mod big_file;
mod conformance;
mod inputs;
mod own_trees;
mod parameters;
mod probe;
mod programs;
mod registry;
mod replay;
mod size_series;
mod workload;
mod workloads;

pub use conformance::Problem;
pub use programs::{ProgramError, demand_leave};
pub use registry::{all, find, names};
pub use workload::{Finished, RunError, Workload, WorkloadError};
