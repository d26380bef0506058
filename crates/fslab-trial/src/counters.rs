//! I/O counters of the block device below a file system.

use std::fs;
use std::path::{Path, PathBuf};

use fslab_model::{DeviceUse, Facts};
use fslab_sys::{BlockCounters, DeviceNumber};

/// The device whose counters are recorded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DeviceMeter(DeviceNumber);

impl DeviceMeter {
    /// The meter of a block device.
    pub(crate) fn of_device(device: &Path) -> Option<Self> {
        DeviceNumber::of(device).ok().map(Self)
    }

    /// The meter of the device that holds `directory`; `None` if its file system has none or
    /// several.
    pub(crate) fn below(directory: &Path) -> Option<Self> {
        let holding = DeviceNumber::holding(directory).ok()?;
        if holding.kernel_name().is_some() {
            return Some(Self(holding));
        }
        // Btrfs subvolumes have anonymous device numbers; the mount's source names the device.
        let source = fslab_fs::recognise(directory).ok()?.source;
        let meter = Self::of_device(Path::new(&source))?;
        (!is_one_of_several(&meter.name()?)).then_some(meter)
    }

    /// The kernel's name of the device.
    pub(crate) fn name(self) -> Option<String> {
        self.0.kernel_name()
    }

    /// Facts that a study may require: name and readahead.
    pub(crate) fn facts(self) -> Facts {
        let mut facts = Facts::new();
        if let Some(name) = self.name() {
            // A partition has no separate queue.
            let block = Path::new("/sys/class/block").join(&name);
            let queues = ["queue", "../queue"].map(|queue| block.join(queue));
            let read = |queue: &PathBuf| fs::read_to_string(queue.join("read_ahead_kb")).ok();
            if let Some(text) = queues.iter().find_map(read) {
                facts.insert("device.read_ahead_kb".into(), text.trim().to_owned());
            }
            facts.insert("device".into(), name);
        }
        facts
    }

    pub(crate) fn read(self) -> Option<BlockCounters> {
        self.0.counters().ok()
    }
}

/// The kernel's busy milliseconds wrap at this value.
const BUSY_MS_WRAP: u64 = 1 << 32;

/// The difference of two readings; `None` if the counters were reset in between.
pub(crate) fn between(before: &BlockCounters, after: &BlockCounters) -> Option<DeviceUse> {
    let optional = |after: Option<u64>, before: Option<u64>| after?.checked_sub(before?);
    let busy_ms = match after.busy_ms.checked_sub(before.busy_ms) {
        Some(busy_ms) => busy_ms,
        None => (after.busy_ms + BUSY_MS_WRAP).checked_sub(before.busy_ms)?,
    };
    Some(DeviceUse {
        reads: after.reads.checked_sub(before.reads)?,
        read_bytes: after.read_bytes.checked_sub(before.read_bytes)?,
        writes: after.writes.checked_sub(before.writes)?,
        write_bytes: after.write_bytes.checked_sub(before.write_bytes)?,
        discards: optional(after.discards, before.discards),
        discard_bytes: optional(after.discard_bytes, before.discard_bytes),
        flushes: optional(after.flushes, before.flushes),
        busy_ns: busy_ms * 1_000_000,
    })
}

/// True if the Btrfs on `device` has other devices: no single counter covers its I/O then.
fn is_one_of_several(device: &str) -> bool {
    let Ok(volumes) = fs::read_dir("/sys/fs/btrfs") else {
        return false;
    };
    volumes
        .flatten()
        .filter_map(|volume| fs::read_dir(volume.path().join("devices")).ok())
        .map(|devices| {
            devices
                .flatten()
                .map(|entry| entry.file_name())
                .collect::<Vec<_>>()
        })
        .any(|devices| devices.len() > 1 && devices.iter().any(|name| name == device))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_subtracted_and_missing_ones_stay_unknown() {
        let before = BlockCounters {
            reads: 3,
            busy_ms: 10,
            ..BlockCounters::default()
        };
        let after = BlockCounters {
            reads: 8,
            busy_ms: 12,
            flushes: Some(4),
            ..BlockCounters::default()
        };
        let used = between(&before, &after).expect("they went on");
        assert_eq!(
            (used.reads, used.busy_ns, used.flushes),
            (5, 2_000_000, None)
        );
    }

    #[test]
    fn a_wrapped_busy_time_is_corrected_and_reset_counters_are_unknown() {
        let busy = |busy_ms, reads| BlockCounters {
            reads,
            busy_ms,
            ..BlockCounters::default()
        };
        let used = between(&busy(BUSY_MS_WRAP - 1, 0), &busy(2, 0)).expect("wrapped");
        assert_eq!(used.busy_ns, 3_000_000);
        assert_eq!(between(&busy(0, 9), &busy(0, 1)), None);
    }
}
