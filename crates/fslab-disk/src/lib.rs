//! Simulated disks and the machines around them: profiles, benchmarks of the model, and traces of
//! requests.

pub mod bench;
mod definitions;
pub mod machine;
pub mod profile;
pub mod registry;
pub mod trace;

pub use machine::Machine;
pub use profile::Profile;
