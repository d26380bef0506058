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
mod footprint;
mod job_files;
mod judging;
mod kernels;
mod machine;
mod order;
mod original;
mod overrides;
mod phases;
mod pilot;
mod precision;
mod repetition;
mod request;
mod resolve;
mod resolve_error;
mod resume;
mod run_begin;
mod run_lock;
mod run_name;
mod stacks;
mod studies;
mod study_key;
mod venue_choice;
mod workers;

pub use bounds::TooMuchError;
pub use conductor::{Conductor, ConductorError, Observer, RunOutcome};
pub use executor::{Executor, trial_request};
pub use footprint::footprint;
pub use job_files::split_variables;
pub use judging::{
    FaultChoice, FaultObserver, FaultyScripts, JudgeGuests, JudgedStates, KeptStates, MinimalState,
    StateObserver, SurvivalJudge, ensure_recordable, judge_state, judge_states, minimal_state,
};
pub use kernels::{KernelError, NamedKernels};
pub use machine::machine_facts;
pub use order::condition_rounds;
pub use original::{differences, expected_time};
pub use overrides::override_study;
pub use phases::PhasesError;
pub use pilot::{PilotTimes, is_scaled_by_budget, pilot_scale, pilot_times, scales};
pub use precision::{CellPrecision, Precision, precision};
pub use repetition::{ParseRepeatsError, Repeats, Repetition, RepetitionError};
pub use request::Request;
pub use request::{GuestChoice, Hardware, VenueChoice};
pub use resolve::{Resolved, brings, resolve};
pub use resolve_error::ResolveError;
pub use run_begin::RunBegin;
pub use run_lock::RunLock;
pub use run_name::{fresh_run_id, fresh_seed};
pub use stacks::ensure_one_disk;
pub use studies::{StudySource, load_claims, load_original, load_study, load_study_with};
pub use studies::{original, studies};
pub use study_key::resolve_failure;
pub use workers::{Assignment, TrialWorkers, serve};
