//! The description of a disk for plans and the guest kernel.

use fslab_model::{BufferEmptying, Bytes, DiskQueue, Scale, SimulatedDisk};

use super::{Medium, Profile};

/// The cache of a controller is a multiple of this.
const CACHE_STEP_BYTES: u64 = 4096;

impl Profile {
    /// Multiplies the write cache of the controller by `scale`, so that the same share of a study's
    /// data fits into it. The full size and the new one; `None` without a controller, and at full
    /// scale.
    pub fn scale_controller_cache(&mut self, scale: Scale) -> Option<(Bytes, Bytes)> {
        let controller = self.controller.as_mut().filter(|_| !scale.is_full())?;
        let full = controller.cache;
        let scaled = scale.of(full.0).next_multiple_of(CACHE_STEP_BYTES);
        controller.cache = Bytes(scaled.min(full.0));
        Some((full, controller.cache))
    }

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cache_of_a_controller_follows_the_scale() {
        let mut array = crate::registry::find("sas-15k-raid10-2012").expect("built in");
        let scale: Scale = "1/16".parse().expect("a scale");
        let sizes = (Bytes::mib(512), Bytes::mib(32));
        assert_eq!(array.scale_controller_cache(Scale::FULL), None);
        assert_eq!(array.scale_controller_cache(scale), Some(sizes));
        let model = array.simulated().model;
        assert!(model.contains("controller_bytes=33554432"), "{model}");
        let mut single = crate::registry::find("hdd-7200-sata-2010").expect("built in");
        assert_eq!(single.scale_controller_cache(scale), None);
    }
}
