//! Where a trial runs: prepares its device, starts its process, and undoes everything afterwards.
//!
//! ```text
//!     Venue --- Place: dir | image behind a loop device | block | fake    what is prepared
//!           --- Lease: written before anything is made                     what is undone
//!           --- child: one process group per trial                         who does it
//! ```
//! Invariant: whatever a venue makes stands in a lease first, and what a lease names is undone by
//! the same code after a success, an error, and a kill.

mod child;
mod control;
mod lease;
mod places;
mod venue;
mod whereabouts;

pub use control::Control;
pub use lease::{Leases, Reclaimed};
pub use venue::{TrialRequest, Venue, VenueSettings};
