//! What a run says, as data: every repeat of every phase and subject, and how subjects compare.
//!
//! Nothing is dropped: a repeat that failed, was skipped or was never run is there with its reason.

mod arrangement;
mod comparison;
mod phase;

pub use arrangement::Analysis;
pub(crate) use arrangement::STEP_METRICS;
pub(crate) use comparison::TOLERANCE;
pub use comparison::{Comparison, Entry, Standing};
pub use phase::{PhaseAnalysis, PhaseCell, Repeat, RepeatState};
