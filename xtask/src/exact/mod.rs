//! Whether the exact figures stay the same to the byte when the host is another: the catalogue in
//! virtual time, once as it is and once under each perturbation of the host.
//!
//! ```text
//!     options -> session -+-> programs       the builds of fslab that are run
//!                         +-> surroundings   one run in changed surroundings, and its readings
//!                         +-> difference     which subjects and phases differ
//!     perturbations                          the list, as data
//! ```

mod difference;
mod options;
mod perturbations;
mod perturbed_runs;
mod programs;
mod surroundings;

pub(crate) use options::USAGE;
pub(crate) use perturbed_runs::run;
pub(crate) use programs::{build_dev, cannot};
