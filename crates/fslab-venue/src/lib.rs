//! Where a trial runs: prepares its device, starts its process, and undoes everything afterwards.
//!
//! ```text
//!     Venue --- Place: dir | image behind a loop device | block        what is prepared
//!           |          | disk of a guest | fake
//!           --- Lease: written before anything is made                what is undone
//!           --- undo: of what a lease names, and of nothing else
//!           --- child: one process group per trial, or a guest        who does it
//!           --- guest: a guest kernel, from its boot to power off
//! ```
//! Invariant: whatever a venue makes stands in a lease first, and what a lease names is undone by
//! the same code after a success, an error, and a kill.

mod child;
mod control;
mod guest;
mod host_identity;
mod lease;
mod listening;
mod orphans;
mod places;
mod time_limit;
mod undo;
mod venue;

pub use control::Control;
pub use guest::{GuestSettings, GuestTask, ShellRequest, run_as_init, run_shell};
pub use lease::{Leases, Reclaimed};
pub use venue::{TrialRequest, Venue, VenueSettings};
