//! What is odd about a sample: outliers, two modes, a drift, a warm-up. Nothing is ever dropped.
//!
//! Each gives a p-value, its rate of false alarms where nothing is odd, so that whoever looks at
//! many samples can correct for that. Each also needs a difference that matters: a sample that
//! hardly varies has no oddities.

mod drift;
mod modes;
mod outliers;
mod resolution;
mod warm_up;

pub use drift::{Drift, drift};
pub use modes::{Modes, modes};
pub use outliers::{Outlier, Outliers, outliers};
pub use warm_up::{WarmUp, warm_up};

/// The least difference of logarithms that matters: 1 %. Below it nobody chooses a file system.
pub(crate) const MATTERS: f64 = 0.01;

/// No spread of logarithms is taken to be less: nothing that is measured repeats better.
const SPREAD_LEAST: f64 = 1e-3;
