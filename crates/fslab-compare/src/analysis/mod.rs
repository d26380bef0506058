//! The analysis of a run: every repeat of every phase and subject, and how subjects compare.
//!
//! Nothing is dropped: a repeat that failed, was skipped or was not run is included with its
//! reason.

mod aged;
mod along_sweep;
mod arrangement;
mod comparison;
mod correction;
mod diagnosis;
mod disk_bound;
mod disturbed;
mod durable;
mod ground;
mod overall;
mod phase;
mod precision;
mod rounds;
mod score_analysis;
mod sensitivity;
mod sweep;

pub use aged::AgedContrast;
pub use along_sweep::{Spread, by_value, spread_over};
pub use arrangement::Analysis;
pub(crate) use arrangement::STEP_METRICS;
pub use comparison::{Comparison, Entry, FirstPlace, Standing};
pub use comparison::{EXACT_TOLERANCE, TOLERANCE};
pub(crate) use correction::correct;
pub use diagnosis::{Anomaly, DetectedAnomaly, Diagnosis};
pub(crate) use ground::Grounds;
pub use ground::{Ground, GroundFigure, WORK_NS_MIN, WhyLeftOut};
pub use overall::OverallAnalysis;
pub(crate) use overall::WeightedMeans;
pub use phase::{PhaseAnalysis, PhaseCell, Repeat, RepeatState};
pub use precision::{RunPrecision, WideInterval};
pub use rounds::RepeatRound;
pub use score_analysis::ScoreAnalysis;
pub use sensitivity::PhaseSensitivity;
pub use sweep::point_in_words;
pub use sweep::{SweepAnalysis, SweepDimension};
