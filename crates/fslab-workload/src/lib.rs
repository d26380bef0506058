//! Workloads: jobs with parameters.
//!
//! A workload is a file of `workloads/`, or the user's file beside a study. The kinds of jobs are
//! in the crates below, each with a table; the registry here joins the tables.

mod catalogue;
mod programs_allowed;
mod times;
mod workload;

pub use catalogue::{JobInfo, all, find, job_infos, names};
pub use fslab_job::{Finished, RunError, SchemaText};
pub use programs_allowed::ensure_programs_allowed;
pub use workload::{ParameterInfo, WordInfo, Workload, WorkloadError};
