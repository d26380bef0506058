//! The description of a disk for plans and the guest kernel.

use fslab_model::{BufferEmptying, DiskQueue, SimulatedDisk};

use super::{Medium, Profile};

impl Profile {
    /// The complete disk as stored in a plan.
    pub fn simulated(&self) -> SimulatedDisk {
        let discard_bytes = match &self.medium {
            Medium::Flash(flash) if flash.discard => saturated(flash.page.0),
            Medium::Flash(_) | Medium::HardDisk(_) => 0,
        };
        SimulatedDisk {
            profile: self.name.clone(),
            queue: DiskQueue {
                max_request_bytes: saturated(self.device.max_request.0),
                physical_block_bytes: saturated(self.device.physical_block.0),
                discard_bytes,
                // A battery keeps what a controller holds: to the kernel nothing is volatile.
                write_cache: self.cache.write_cache && self.controller.is_none(),
                fua: self.cache.fua && self.controller.is_none(),
                rotational: matches!(self.medium, Medium::HardDisk(_)),
                scheduler: self.device.scheduler,
            },
            model: self.parameters(),
            emptied_by: self.emptied_by.as_ref().map(|by| BufferEmptying {
                reads: by.reads,
                wait_ns: by.wait.0,
            }),
        }
    }
}

fn saturated(bytes: u64) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}
