//! What is issued: the kinds of jobs, and the workloads, which are jobs with parameters.
//!
//! A workload is a file of `workloads/`, or one of the user's beside his study. A job turns
//! parameters into calls of the engine. It knows no file system, no device and no cache; it neither
//! prints nor summarises.

mod applications;
mod catalogue;
mod conformance;
mod inputs;
mod job;
mod jobs;
mod parameters;
mod probe;
mod programs;
mod replay;
mod synthetic;
mod times;
mod workload;

pub use catalogue::{all, find, names};
pub use conformance::ConformanceFailure;
pub use programs::{ProgramError, demand_leave};
pub use workload::{Finished, ParameterInfo, RunError, Workload, WorkloadError};
