//! The analysis of a run: every repeat of every phase and subject, and how subjects compare.
//!
//! Nothing is dropped: a repeat that failed, was skipped or was not run is included with its
//! reason.

mod aged;
mod along;
mod arrangement;
mod breadth;
mod comparison;
mod correction;
mod diagnosis;
mod disturbed;
mod durable;
mod overall;
mod phase;
mod rounds;
mod sensitive;
mod sweep;

pub use aged::AgedContrast;
pub use along::{Spread, by_value, spread_over};
pub use arrangement::Analysis;
pub(crate) use arrangement::STEP_METRICS;
pub use breadth::{RunPrecision, WideInterval};
pub use comparison::{Comparison, Entry, Standing};
pub use comparison::{EXACT_TOLERANCE, TOLERANCE};
pub(crate) use correction::correct;
pub use diagnosis::{Anomaly, DetectedAnomaly, Diagnosis};
pub use overall::OverallAnalysis;
pub use phase::{PhaseAnalysis, PhaseCell, Repeat, RepeatState};
pub use rounds::RepeatRound;
pub use sensitive::PhaseSensitivity;
pub use sweep::point_in_words;
pub use sweep::{SweepAnalysis, SweepDimension};
