//! Venues: prepare a trial's device, start its process, and undo everything afterwards.
//!
//! ```text
//!     Venue --- Place: dir | image behind a loop device | block        prepares the device
//!           |          | disk of a guest | fake
//!           --- Lease: the resources, written before they are made
//!           --- undo: undoes the resources of a lease and nothing else
//!           --- child: one process group per trial, or a guest
//!           --- expected: what a trial may report
//!           --- guest: a guest kernel, from boot to power-off
//!     judging: guests that judge states of recorded disks
//! ```
//! Invariant: every resource of a venue is in a lease before it is made, and the same code undoes
//! it after success, an error, or a kill.

mod child;
mod control;
mod ended;
mod expected;
mod guest;
mod host_failure;
mod host_memory;
mod judging;
mod lease;
mod leased_resources;
mod orphans;
mod placement;
mod places;
mod room_watch;
#[cfg(test)]
mod sample_trial;
mod time_limit;
mod trial_output;
mod trial_request;
mod undo;
mod venue;

pub use control::Control;
pub use expected::{ExpectedRecord, OutputBounds, quoted};
pub use guest::{
    Emulator, EmulatorError, GuestSettings, GuestTask, KeptLogs, LogKeeping, PcSettings,
    ShellRequest, check_snapshots, run_as_init, run_shell,
};
pub use judging::{
    FaultJudge, FaultlessRun, STATE_LIMIT, StateJudge, StateJudgeSettings, examine, judge_faults,
};
pub use lease::{Leases, Reclaimed};
pub use trial_request::TrialRequest;
pub use venue::{Venue, VenueSettings, ensure_disk_can_be_recorded};
