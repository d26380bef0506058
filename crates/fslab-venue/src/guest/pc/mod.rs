//! A guest on a simulated PC: an emulator that counts instructions, with the host's files as memory
//! of its devices.
//!
//! Invariant: no device of the machine completes anything by a thread of the host, since the moment
//! of that is not counted in instructions.

mod emulator;
mod events;
mod snapshot;
mod table;

pub(super) use emulator::{Boot, Pc, boot};
pub use emulator::{Emulator, EmulatorError};
pub(super) use events::TableEvents;
pub use snapshot::check_snapshots;
pub(super) use snapshot::{Snapshot, Snapshots};
pub(super) use table::{Table, TableFile};
