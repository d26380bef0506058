//! Machines: processor, memory and disk of a simulated computer, one file each.

mod document;
mod registry;

pub use document::{
    MACHINE_FORMAT, Machine, MachineDisk, MachineMemory, Processor, ProcessorSpeed,
};
pub use registry::{all, find, names};
