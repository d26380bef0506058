//! What an original study claims and printed, and whether a run confirms it.
//!
//! Owns the two files of an original, `claims.toml` and `published.csv`, and every rule by which a
//! claim holds, fails, stays undecided or was not measured; docs/claims.md has them for readers.
//! Does no I/O: texts and a run's record come in, and structured outcomes with their numbers go
//! out.
//!
//! ```text
//!     claims.toml ----> Claims ----+
//!                                  +--(evaluate)--------> Scorecard
//!     RunRecord -------------------+
//!                                  +--(then_and_now)----> ThenAndNow
//!     published.csv --> Published -+
//! ```

mod claim;
mod error;
mod evaluate;
mod evidence;
mod file;
mod findings;
mod holds_schema;
mod keys;
mod kinds;
mod original;
mod published;
mod range;
mod ratio;
mod score;
mod scorecard;
mod sentence;
mod then_and_now;

pub use claim::{
    Among, Claim, Claims, Holds, Kind, Limits, MemoryRule, PhasePair, Position, Shape,
};
pub use error::OriginalError;
pub use evaluate::evaluate;
pub use original::{NamedText, Original};
pub use published::{Published, PublishedRow, PublishedValue};
pub use range::{ParseRangeError, PointRange, is_within};
pub use score::{Measure, Score, Timed};
pub use scorecard::{Finding, Outcome, Quantity, Scorecard, StandIn, Verdict};
pub use then_and_now::{Agreement, ThenAndNow, ThenAndNowGroup, ThenAndNowRow, then_and_now};
