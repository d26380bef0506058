//! Simulated disks: their profiles, what the model says of them, and the traces that they leave.

pub mod bench;
mod error;
pub mod profile;
pub mod registry;
pub mod trace;

pub use error::DiskError;
pub use profile::Profile;
