//! What the block device below a file system did between two moments.

use std::fs;
use std::path::{Path, PathBuf};

use fslab_model::{DeviceUse, Facts};
use fslab_sys::{BlockCounters, DeviceNumber};

/// The device whose counters tell what a phase cost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DeviceMeter(DeviceNumber);

impl DeviceMeter {
    /// The meter of a block device.
    pub(crate) fn of_device(device: &Path) -> Option<Self> {
        DeviceNumber::of(device).ok().map(Self)
    }

    /// The meter of the device that holds `directory`; `None` where its file system has none of
    /// its own, or several.
    pub(crate) fn below(directory: &Path) -> Option<Self> {
        let holding = DeviceNumber::holding(directory).ok()?;
        if holding.kernel_name().is_some() {
            return Some(Self(holding));
        }
        // Btrfs numbers its subvolumes itself; the mount's source names the device.
        let source = fslab_fs::recognise(directory).ok()?.source;
        let meter = Self::of_device(Path::new(&source))?;
        (!is_one_of_several(&meter.name()?)).then_some(meter)
    }

    /// The device's name in the kernel.
    pub(crate) fn name(self) -> Option<String> {
        self.0.kernel_name()
    }

    /// What a study may demand of it: its name, and how far the kernel reads ahead of a reader.
    pub(crate) fn facts(self) -> Facts {
        let mut facts = Facts::new();
        if let Some(name) = self.name() {
            // A partition has no queue of its own.
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

/// Where the kernel's count of busy milliseconds begins anew.
const BUSY_MS_WRAP: u64 = 1 << 32;

/// What was counted from `before` to `after`; `None` where the counters began anew in between.
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

/// Whether the Btrfs that has `device` has others as well: then no one counter has all its I/O.
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
    fn counters_are_subtracted_and_what_was_not_counted_stays_unknown() {
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
    fn a_busy_time_that_wraps_goes_on_and_counters_that_begin_anew_are_unknown() {
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
