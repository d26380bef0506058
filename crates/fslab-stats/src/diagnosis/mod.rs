//! Anomalies of a sample: outliers, two modes, drift, warm-up. Values are reported, never dropped.
//!
//! Each test gives a p-value, its rate of false alarms, so that a caller with many samples can
//! correct for their number. Each also requires a difference of at least 1 %, so a sample that
//! hardly varies has no anomaly.

mod drift;
mod modes;
mod outliers;
mod resolution;
mod warm_up;

pub use drift::{Drift, drift};
pub use modes::{Modes, modes};
pub use outliers::{Outlier, Outliers, outliers};
pub use warm_up::{WarmUp, warm_up};

/// The smallest difference of logarithms that is reported: 1 %, too little to choose a file system
/// by.
pub(crate) const MATTERS: f64 = 0.01;

/// The smallest spread of logarithms that is assumed: no measurement repeats better.
const SPREAD_LEAST: f64 = 1e-3;
