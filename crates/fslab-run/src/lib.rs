//! The conductor: resolves a study to a plan, and runs the plan.
//!
//! ```text
//!     Study --resolve--> Plan --order--> trial, trial, ... --venue--> record --> store
//! ```
//! Prints nothing: callers see progress through an [`Observer`].

mod bounds;
mod conductor;
mod decisions;
mod dimension_text;
mod directories;
mod executor;
mod kernels;
mod machine;
mod order;
mod original;
mod overrides;
mod phases;
mod precision;
mod repetition;
mod resolve;
mod resume;
mod run_lock;
mod run_name;
mod studies;
mod study_key;
mod survival;
mod venue_choice;
mod workers;

pub use bounds::TooMuchError;
pub use conductor::{Conductor, ConductorError, Observer, RunOutcome};
pub use executor::{Executor, trial_request};
pub use kernels::{KernelError, NamedKernels};
pub use machine::machine_facts;
pub use order::condition_rounds;
pub use original::{differences, expected_time};
pub use overrides::override_study;
pub use phases::PhasesError;
pub use precision::{CellPrecision, Precision, precision};
pub use repetition::{ParseRepeatsError, Repeats, Repetition, RepetitionError};
pub use resolve::{Request, ResolveError, Resolved, brings, footprint, resolve};
pub use resume::{ResumeError, Resumption, ensure_same_device, ensure_same_mounts};
pub use run_lock::RunLock;
pub use run_name::{fresh_run_id, fresh_seed};
pub use studies::{StudySource, load_claims, load_original, load_study, original, studies};
pub use study_key::resolve_failure;
pub use survival::{SurvivalJudge, ensure_recordable};
pub use venue_choice::{GuestChoice, Hardware, VenueChoice};
pub use workers::{Assignment, TrialWorkers, serve};
