//! Simulated disks: profiles, benchmarks of the model, and traces of requests.

pub mod bench;
mod error;
pub mod profile;
pub mod registry;
pub mod trace;

pub use error::DiskError;
pub use profile::Profile;
