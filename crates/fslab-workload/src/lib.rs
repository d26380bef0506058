//! Jobs (code that issues operations) and workloads (jobs with parameters).
//!
//! A workload is a file of `workloads/`, or the user's file beside a study. A job turns parameters
//! into calls of the engine. It knows no file system, device or cache, and neither prints nor
//! summarizes.

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
pub use programs::{ProgramError, ensure_programs_allowed};
pub use workload::{Finished, ParameterInfo, RunError, Workload, WorkloadError};
