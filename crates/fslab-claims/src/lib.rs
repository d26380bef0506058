//! The claims and printed figures of an original study, and whether a run confirms them.
//!
//! Owns the two files of an original, `claims.toml` and `published.csv`, and every rule by which a
//! claim holds, fails, stays undecided or was not measured, as docs/claims.md describes. Does no
//! I/O: the input is texts and a run's record, the output outcomes with their numbers.
//!
//! ```text
//!     claims.toml ----> Claims ----+
//!                                  +--(evaluate)--------> Scorecard
//!     RunRecord -------------------+
//!                                  +--(then_and_now)----> ThenAndNow
//!     published.csv --> Published -+
//!                                  +--(evaluate_original)--> Scorecard
//!     claims.toml ----> Claims ----+
//! ```

mod along_sweep;
mod claim;
mod claimed_figure;
mod drawn_disks;
mod error;
mod evaluate;
mod evidence;
mod file;
mod findings;
mod from_memory;
mod holds_schema;
mod judgement;
mod keys;
mod kinds;
mod machine;
mod missing;
mod original;
mod platforms;
mod printed_run;
mod published;
mod range;
mod ratio;
mod scorecard;
mod sentence;
mod then_and_now;

pub use claim::{
    Among, Claim, ClaimKind, Claims, Holds, Limits, MemoryRule, PhasePair, Position, Shape,
    SubjectThen,
};
pub use claimed_figure::{Measure, Score, Timed};
pub use error::OriginalError;
pub use evaluate::{evaluate, evaluate_original};
pub use original::{NamedText, Original};
pub use platforms::FurtherRun;
pub use published::{Published, PublishedRow, PublishedValue};
pub use range::{ParseRangeError, PointRange, is_within};
pub use scorecard::{ClaimOutcome, ClaimVerdict, Finding, Quantity, Scorecard, StandIn};
pub use then_and_now::{Agreement, ThenAndNow, ThenAndNowGroup, ThenAndNowRow, then_and_now};
pub use then_and_now::{FactorOutlier, LeftOut, LeftOutReason, OneFactor};
