//! The simulated disk's model in C, `kernel/simdisk/model`, with safe calls into it.
//!
//! Compiles the files that the guest kernel's driver has, too. Profiles and their units are
//! fslab-disk's.
#![expect(unsafe_code, reason = "every call into the model in C stands here")]

mod model;

pub use model::{DiskDone, DiskModel, DiskOp, DiskParts, DiskRequest};
