//! The SQLite store of runs, trials and metrics: the only place with SQL.
//!
//! A run begins with its header; each trial is one durable transaction and reads back as the same
//! record. Knows no reports. The tables for queries by hand are described in `schema/v1.sql`; the
//! views `results` and `failures` are the start.
//!
//! ```text
//!     Store --+-- opening: identity, permissions, schema version
//!             +-- writing: begin_run, add_trial, add_runs, ask_repeats, delete_run
//!             +-- deleting: find, delete, undelete, purge
//!             +-- reading: runs (summaries), count, select (which run), run (all of one), metrics
//!             '-- checking: damage, by run and trial
//! ```

mod bounds;
mod checking;
mod codec;
mod connection;
mod deleting;
mod digest;
mod error;
mod listing;
mod migration;
mod phase_columns;
mod place;
mod reading;
mod sealing;
mod selector;
mod shape;
mod store;
mod writing;

pub use checking::{Checked, StoreDamage};
pub use deleting::FoundRun;
pub use error::{StoreError, StoreErrorKind};
pub use listing::{DamagedRun, ListedRun, RunFilter, RunSummary};
pub use migration::SCHEMA_VERSION;
pub use selector::RunSelector;
pub use store::Store;
