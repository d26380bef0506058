//! The hostile campaign: kills and stops at random moments, damaged files, mutated inputs. Nothing
//! may be lost, nothing left behind, and no other number shown. An hour, outside of the gate.
//!
//! ```text
//!     options     what is done, and how often
//!     scene       a directory with its own store, images and states, and what is left in it
//!     processes   the processes of a run: they are killed, stopped and continued
//!     progress    how far a part is
//!     endurance   runs that are killed and resumed, or stopped and continued
//!     damage      stores, logs of disks and snapshots with flipped bits, cut and spliced
//!     campaign    the order, and the counts
//! ```

mod campaign;
mod chance;
mod damage;
mod endurance;
mod options;
mod processes;
mod progress;
mod scene;

pub(crate) use campaign::run;
pub(crate) use options::USAGE;
