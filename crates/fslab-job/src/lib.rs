//! What a kind of job is: its parameters, what it needs, how it is run; and the jobs that an engine
//! runs, on data and on metadata.
//!
//! ```text
//!     fslab-job           the trait, shared parameters, results; data and metadata jobs
//!     fslab-programs      programs, servers and applications   \
//!     fslab-conformance   the conformance suite and probes      > each with a table of its jobs
//!     fslab-replay        traces                               /
//!     fslab-workload      joins the tables; workloads are jobs with parameters
//! ```
//!
//! A job turns parameters into calls of the engine. It knows no file system, device or cache, and
//! neither prints nor summarizes.

mod content;
mod inputs;
mod job;
mod kinds;
mod outcome;
mod parameters;
mod schema_text;
mod synthetic;
mod value_range;

pub use content::generate_content;
pub use inputs::{input_or, sha256_of};
pub use job::{DataFiles, Job, JobError, JobFunction, JobKind, ResolvedJob, resolved};
pub use kinds::ENGINE_JOBS;
pub use outcome::{Finished, RunError};
pub use parameters::{
    PhasePart, ensure_inside, from_map, is_true, parse_engine, sized_footprint, tree_footprint,
};
pub use schema_text::SchemaText;
pub use synthetic::{SyntheticCost, measured, synthetic_application, synthetic_result};
