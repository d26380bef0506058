//! Labs of a simulated PC: an unchanged x86-64 kernel of a distribution, or one compiled from
//! source, fslab's driver as a module of it, and an initramfs that loads the modules and mounts the
//! lab's root image.
//!
//! ```text
//!     Debian's packages --> kernel, modules ----+
//!     or source + recipe --> kernel ------------+
//!     headers + kernel/simdisk --> fslab.ko ----+--> initramfs
//!     kernel/simdisk/pc/init.c --> /init -------+
//!     fslab-guest, stripped ------------------------> program of the trials
//! ```
//!
//! Invariant: the program is a part of the lab. Its instructions take time in the guest, so that
//! figures of one lab must not depend on which build of fslab starts the trial.

mod boot_file;
mod build;
mod debian_kernel;
mod driver;
mod facts;
mod initramfs;
mod modules;
mod pc_kernel;

pub(crate) use build::build_pc;
pub(crate) use driver::recipe_digest;
pub use facts::PcFacts;
pub use initramfs::{GuestInitramfs, LabInitramfs};
