//! One run against another: in what they differ, what became faster or slower, and whether that
//! may stop a build.
//!
//! Owns the question whether two runs compare at all, the pairing of their subjects and phases, and
//! the rule of the gate. Statistics are those of `fslab-stats`, the figures those of a report.
//!
//! ```text
//!     base, new --> demand_comparable --> Vec<Difference>      dimensions that differ
//!               --> Diff::of          --> Vec<Contrast>        one for each subject and phase
//!                                           |-> tables
//!                                           '-> Gate::judge --> Check... --> JUnit, annotations
//! ```

mod annotation;
mod certainty;
mod contrast;
mod diff;
mod dimension;
mod document;
mod error;
mod gate;
mod joint;
mod junit;
mod pairing;
mod tables;

pub use annotation::annotations;
pub use contrast::{Absence, Contrast, Side};
pub use diff::{Diff, Overall, Question};
pub use dimension::{Difference, Dimension, demand_comparable, differences, unlike};
pub use document::{DiffDocument, GateDocument};
pub use error::DiffError;
pub use gate::{Check, Gate, GateRule, Ruling};
pub use junit::junit;
pub use pairing::{Pair, pairs};
pub use tables::{diff_table, gate_table};
