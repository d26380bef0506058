//! Safe bindings to the simulated disk's model in C, `kernel/simdisk/model`.
//!
//! Compiles the same files as the guest kernel's driver. Profiles and their units are fslab-disk's.
#![expect(
    unsafe_code,
    reason = "all calls into the model in C are in this crate"
)]

mod model;

pub use model::{DiskDone, DiskModel, DiskOp, DiskParts, DiskRequest};
