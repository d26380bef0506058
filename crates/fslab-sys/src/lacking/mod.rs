//! What only Linux has: the same names, which refuse and say so.
//!
//! Types that cannot be made here are empty enums: their methods are never called.

mod call_array;
mod mount_flags;
mod refusals;
#[cfg(unix)]
mod ring;
mod values;

pub use call_array::{
    CallArray, CallBatch, OpenedByCall, TakenCallArray, has_call_array, open_call_array,
};
pub use mount_flags::MountFlags;
pub use refusals::*;
#[cfg(unix)]
pub use ring::Ring;
pub use values::{Confinement, Descriptors, HostRoot, KernelLog, LoopDevice, WriteLimits};

pub(crate) use refusals::lacks;
