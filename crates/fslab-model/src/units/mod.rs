//! Amounts, times, shares and ids, with their texts.

mod amounts;
mod duration_text;
mod id;
mod percent;
mod size;

pub(crate) use amounts::SIZE_PATTERN;
pub use amounts::{Bytes, ParseBytesError, Rate, Share, format_ns};
pub use duration_text::{ParseDurationError, parse_duration, parse_duration_in, parse_seconds};
pub(crate) use duration_text::{Seconds, deserialize_seconds};
pub use id::{CellId, ParsePlanHashError, ParseRunIdError, PlanHash, RunId, TrialId};
pub use percent::{ParsePercentError, Percent};
pub use size::Size;
