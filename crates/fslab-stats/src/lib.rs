//! Pure statistics: what a few repeats say about a figure, and about the ratio of two figures.
//!
//! Owns every formula that a report's certainty rests on, each with its source; knows nothing of
//! file systems, metrics or records. All functions are total: a sample that a formula does not hold
//! for (empty, not finite, not positive where logarithms are taken) gives `None`, never NaN.
//!
//! ```text
//!     &[f64] --> Summary                        n, median, mean, sd, extremes
//!            --> location --> Estimate          geometric mean, t-interval on the logarithms
//!     two    --> ratio    --> Estimate          ratio of geometric means, Welch's interval
//!                             Estimate --> Verdict
//!            --> mean, share               arithmetic mean, share of repeats, with intervals
//!            --> deviation, its ratio      spread, with intervals of chi-squared and F
//!     two    --> rank_correlation          whether two orders agree
//! ```

mod dispersion;
mod estimate;
mod location;
mod logs;
mod mean;
mod quantile;
mod rank;
mod ratio;
mod summary;
mod verdict;

pub use dispersion::{deviation, deviation_ratio, percent_of_largest, relative_deviation};
pub use estimate::{Estimate, Interval};
pub use location::location;
pub use mean::{Mean, mean, share};
pub use quantile::quantile;
pub use rank::{RankCorrelation, rank_correlation};
pub use ratio::ratio;
pub use summary::Summary;
pub use verdict::{Verdict, verdict};

/// The share of experiments in which an interval of this crate holds the true value.
pub const CONFIDENCE: f64 = 0.95;
