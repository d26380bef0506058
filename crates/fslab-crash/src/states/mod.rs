//! The states that a power loss may leave.
//!
//! At a time, each write that was submitted is durable or pending. It is durable if a flush that
//! was submitted after its completion has ended, or if it went past the cache (FUA) and has ended;
//! of a disk without a volatile cache, if it has ended. Pending writes may be kept in any
//! combination, and one that is being written may be cut at a sector. A discard counts as a write.
//!
//! ```text
//!     requests --Lifetimes--> Moments --choose--> States --get--> CrashState
//! ```
//!
//! Time and memory grow with the requests, not with the writes that are pending at each moment.

mod candidates;
mod enumerate;
mod lifetimes;
mod pending;
mod seen;
mod state;
mod wavelet;

pub use crate::log::DiskCache;
pub use enumerate::{Budget, States};
pub use pending::{Moments, TooManyMoments};
pub(crate) use state::Kept;
pub use state::{CrashState, Loss};
