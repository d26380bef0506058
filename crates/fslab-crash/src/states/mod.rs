//! The states that a power loss may leave.
//!
//! At a time, each write that was submitted is durable or pending. It is durable if a flush that
//! was submitted after its completion has ended, or if it went past the cache (FUA) and has ended;
//! of a disk without a volatile cache, if it has ended. Pending writes may be kept in any
//! combination, and one that is being written may be cut at a sector. A discard counts as a write.

mod candidates;
mod enumerate;
mod pending;
mod state;

pub use enumerate::{Budget, States, enumerate};
pub use pending::{DiskCache, Moment, moments};
pub use state::{CrashState, Loss};
