//! Comparison: how the subjects of a run compare, how one run compares with another, and whether
//! that fails a gate.
//!
//! Owns which results are comparable, pairing, joining, verdicts and the gate's rule. Knows no
//! output formats: `fslab-report` renders its results. Statistics are those of `fslab-stats`.
//!
//! ```text
//!     RunRecord --> Analysis                  subjects, phase by phase, with verdicts
//!               --> observations              every figure as a row
//!     Analysis  --> Recommendation            which subject to take, or why none
//!     base, new --> ensure_comparable --> Vec<Difference>      dimensions that differ
//!               --> Diff::of          --> Vec<Contrast>        one for each subject and phase
//!                                           '-> Gate::judge --> Vec<Check>
//! ```

mod analysis;
mod certainty;
mod contrast;
mod diff;
mod dimension;
mod dimension_value;
mod experiment;
#[cfg(test)]
mod fixture;
mod gate;
mod meeting;
mod meeting_words;
mod merge;
mod observation;
mod pairing;
mod recommendation;
mod scaling;
pub mod wording;

pub use analysis::{
    AgedContrast, Analysis, Anomaly, Comparison, DetectedAnomaly, Diagnosis, EXACT_TOLERANCE,
    Entry, FirstPlace, Ground, GroundFigure, OverallAnalysis, PhaseAnalysis, PhaseCell,
    PhaseSensitivity, Repeat, RepeatRound, RepeatState, RunPrecision, ScoreAnalysis, Spread,
    Standing, SweepAnalysis, SweepDimension, TOLERANCE, WORK_NS_MIN, WhyLeftOut, WideInterval,
    by_value, point_in_words, spread_over,
};
pub use contrast::{Absence, Contrast, Side};
pub use diff::{Diff, FALSE_DISCOVERIES, Overall, Question, named};
pub use dimension::{
    Difference, Dimension, differences, ensure_comparable, header_differences, phase_difference,
    unlike,
};
pub use experiment::{
    ConditionResult, Effects, Experiment, Factor, ModelBand, SUBJECT_FACTOR, SubjectSummary,
};
pub use gate::{Check, Gate, GateOutcome, GateRule, NEARLY_ALL, Ruling};
pub use meeting::{
    ComparedSide, ConditionDifference, LeftOver, Meeting, Meetings, PhaseName, Unmet,
};
pub use merge::{MergeError, Merged, merge, merge_gathered, relabel};
pub use observation::{DIMENSIONS, FIGURE, Observation, PLACES, observations};
pub use pairing::{Pair, pairs};
pub use recommendation::{
    Choice, DISTURBED_MAX, Dependence, Lead, PassedOver, Recommendation, Shortfall, Threshold,
    Turn, Undecided, WhyNone, answer_in_words, shortfalls,
};
pub use scaling::{Scaling, ScalingPicture, ScalingPoint, ScalingRow};
