//! Snapshots: the state of a PC whose kernel runs and waits for its guest. Guests start from it in
//! a fraction of the time of a boot, all of one machine from the same.
//!
//! ```text
//!     state     the state, and the command of a guest that starts from it
//!     taking    boots the machine, without files and without a disk, until fslab's module stops
//!               it (kernel/simdisk/pc/boot_kern.c); the emulator then writes its devices
//!     kept      in the lab's directory, one file for each machine; made by the first guest
//! ```
//!
//! Invariant: what of a snapshot a guest can see follows from the lab, the emulator and the machine
//! alone: the same bytes of memory, and the same virtual time, in every run. Guests of such a lab
//! never boot by themselves instead.

mod clock;
mod file;
mod kept;
mod monitor;
mod state;
mod taking;

pub(in crate::guest) use kept::Snapshots;
pub use kept::check_snapshots;
pub(in crate::guest) use state::Snapshot;
