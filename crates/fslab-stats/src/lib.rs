//! Pure statistics: what a few repeats say about a figure, and about the ratio of two figures.
//!
//! Owns every formula behind a report's intervals and verdicts, each with its source; knows no file
//! systems, metrics or records. All functions are total: a sample that a formula does not hold for
//! (empty, not finite, not positive where logarithms are taken) gives `None`, never NaN. They are
//! deterministic: resampling uses constant seeds.
//!
//! ```text
//!     &[f64] --> Summary                        n, median, mean, sd, extremes
//!            --> location --> Estimate          geometric mean, t-interval on the logarithms
//!            --> relative_half_widths --> Stopping    whether repeats are enough
//!            --> sensitivity                    how far one further value may lie
//!            --> outliers, modes, drift, warm_up    anomalies, each with a p-value
//!     two    --> ratio    --> Estimate          ratio of geometric means, with its interval
//!                             Estimate --> Verdict
//!            --> difference_test, mann_whitney --> Test
//!            --> repeats_to_decide     how many repeats a verdict would take
//!     clusters --> clustered_ratio_at, clustered_difference_test    where repeats share an error
//!     p-values --> holm, benjamini_hochberg     corrected for multiple tests
//!     trials x phases --> overall --> OverallMeans    geometric means over phases
//!     conditions x repeats --> variance_shares    what decides: variance by factor, interaction
//!     trial > mount > iteration --> components  variance by level
//!            --> mean, share               arithmetic mean, share of repeats, with intervals
//!            --> deviation, its ratio      spread, with intervals of chi-squared and F
//!     alternatives x criteria --> first_shares, turning_weights    who is first by other weights
//!     two    --> rank_correlation          whether two orders agree
//!     seed   --> Random                    pseudo-random numbers
//! ```

#![warn(missing_docs)]

mod clusters;
mod components;
mod diagnosis;
mod difference;
mod dispersion;
mod estimate;
mod factorial;
mod location;
mod logs;
mod mann_whitney;
mod mean;
mod multiplicity;
mod overall;
mod permutation;
mod quantile;
mod random;
mod rank;
mod ratio;
mod repeats;
mod resample;
mod sensitivity;
mod steps;
mod stopping;
mod summary;
mod tail;
mod verdict;
mod weighting;

pub use clusters::{clustered_difference_test, clustered_p_below, clustered_ratio_at};
pub use components::{Component, Components, Nested};
pub use diagnosis::{Drift, Modes, Outlier, Outliers, WarmUp, drift, modes, outliers, warm_up};
pub use difference::{Test, TestMethod, difference_test, difference_test_among};
pub use dispersion::{deviation, deviation_ratio, relative_deviation};
pub use estimate::{Estimate, Interval};
pub use factorial::{FACTORS_MAX, VarianceShare, variance_shares};
pub use location::{centre, location};
pub use mann_whitney::mann_whitney;
pub use mean::{Mean, mean, share};
pub use multiplicity::{benjamini_hochberg, holm};
pub use overall::{Combination, OverallMeans, TrialValues};
pub use quantile::quantile;
pub use random::{Counter, CounterRandom, Generator, Random, SplitMixRandom, mix, mix_bytes};
pub use rank::{RankCorrelation, rank_correlation};
pub use ratio::{IntervalMethod, interval_method, ratio, ratio_at, ratio_p_below};
pub use repeats::{REPEATS_MOST, repeats_to_decide};
pub use sensitivity::sensitivity;
pub use steps::are_neighbouring_steps;
pub use stopping::{Stopping, is_decided, relative_half_widths, stopping};
pub use summary::Summary;
pub use tail::{tail_p_below, tail_ratio_at};
pub use verdict::{Verdict, verdict};
pub use weighting::{TurningWeight, WEIGHT_DRAWS, first_shares, turning_weights};

/// The confidence level of this crate's intervals.
pub const CONFIDENCE: f64 = 0.95;

/// The smallest relative uncertainty of a figure in virtual time, even if its repeats are equal:
/// latencies are kept to three digits, and where a few perturbations gave equal values another one
/// has changed the fifth digit.
pub const RESOLUTION: f64 = 0.001;
