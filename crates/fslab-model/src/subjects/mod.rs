//! Subjects, and what is known of their file systems.

mod capabilities;
mod network;
mod network_mount;
mod reservation;
mod stack;
mod stage;
mod subject;
mod subject_error;

pub use capabilities::{Capabilities, CaseRule, CrashSafety, Need};
pub use network::{Network, Protocol};
pub use network_mount::NetworkMount;
pub use reservation::{Reservation, ReservationKind};
pub use stack::{DiskSpread, LayerKind, StackLayer};
pub use stage::{AGE_PROFILES, AGED_DIRECTORY, AgeProfile, Ageing, ParseStageError, Stage};
pub use subject::Subject;
pub use subject_error::ParseSubjectError;
