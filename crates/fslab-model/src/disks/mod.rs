//! Disks and machines, as a plan has them.

mod counted_machine;
mod device_identity;
mod simulated_disk;

pub use counted_machine::CountedMachine;
pub use device_identity::DeviceIdentity;
pub use simulated_disk::{BufferEmptying, DISK_DRAW, DiskQueue, SimulatedDisk};
