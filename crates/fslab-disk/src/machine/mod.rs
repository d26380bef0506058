//! Machines: processor, memory and disk of a simulated computer, one file each.

mod document;
mod registry;

pub use document::{
    InstalledDisk, InstalledMemory, MACHINE_FORMAT, Machine, Processor, ProcessorSpeed,
};
pub use registry::{all, find, names};
