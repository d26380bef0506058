//! I/O counters of the block device below a file system.

use std::fs;
use std::path::{Path, PathBuf};

use fslab_model::{DeviceUse, Facts};
use fslab_sys::{BlockCounters, DeviceNumber};

/// The devices whose counters are recorded: the disks of a volume.
#[derive(Clone, Debug)]
pub(crate) struct DeviceMeter(Vec<DeviceNumber>);

/// The counters of each device at one time.
#[derive(Clone, Debug)]
pub(crate) struct DeviceReading(Vec<BlockCounters>);

impl DeviceMeter {
    /// The meter of block devices.
    pub(crate) fn of_devices<'a>(devices: impl IntoIterator<Item = &'a Path>) -> Option<Self> {
        let numbers = devices.into_iter().map(DeviceNumber::of);
        numbers.collect::<Result<_, _>>().ok().map(Self)
    }

    /// The meter of the device that holds `directory`; `None` if its file system has none or
    /// several.
    pub(crate) fn below(directory: &Path) -> Option<Self> {
        let holding = DeviceNumber::holding(directory).ok()?;
        if holding.kernel_name().is_some() {
            return Some(Self(vec![holding]));
        }
        // Btrfs subvolumes have anonymous device numbers; the mount's source names the device.
        let source = fslab_fs::recognise(directory).ok()?.source;
        let meter = Self::of_devices([Path::new(&source)])?;
        let name = meter.names().next()?;
        (!is_one_of_several(&name)).then_some(meter)
    }

    /// The kernel's names of the devices.
    pub(crate) fn names(&self) -> impl Iterator<Item = String> {
        self.0.iter().filter_map(|device| device.kernel_name())
    }

    /// Facts that a study may require: name and readahead of the first device.
    pub(crate) fn facts(&self) -> Facts {
        let mut facts = Facts::new();
        let Some(name) = self.names().next() else {
            return facts;
        };
        facts.extend(read_ahead(&name));
        let names: Vec<String> = self.names().collect();
        facts.insert("device".into(), names.join(" "));
        facts
    }

    pub(crate) fn read(&self) -> Option<DeviceReading> {
        let counters = self.0.iter().map(|device| device.counters().ok());
        counters.collect::<Option<_>>().map(DeviceReading)
    }
}

/// The fact of the readahead of the device with this kernel name.
pub(crate) fn read_ahead(name: &str) -> Option<(String, String)> {
    // A partition has no separate queue.
    let block = Path::new("/sys/class/block").join(name);
    let queues = ["queue", "../queue"].map(|queue| block.join(queue));
    let read = |queue: &PathBuf| fs::read_to_string(queue.join("read_ahead_kb")).ok();
    let text = queues.iter().find_map(read)?;
    Some(("device.read_ahead_kb".into(), text.trim().to_owned()))
}

impl DeviceReading {
    /// Bytes written to all devices.
    pub(crate) fn write_bytes(&self) -> u64 {
        self.0.iter().map(|counters| counters.write_bytes).sum()
    }
}

/// The kernel's busy milliseconds wrap at this value.
const BUSY_MS_WRAP: u64 = 1 << 32;

/// The difference of two readings, over all devices; busy is the busiest. `None` if counters were
/// reset in between.
pub(crate) fn between(before: &DeviceReading, after: &DeviceReading) -> Option<DeviceUse> {
    let devices = before.0.iter().zip(&after.0);
    let used = devices.map(|(before, after)| between_counters(before, after));
    used.reduce(|all, one| {
        let (all, one) = (all?, one?);
        let optional = |all: Option<u64>, one: Option<u64>| Some(all? + one?);
        Some(DeviceUse {
            reads: all.reads + one.reads,
            read_bytes: all.read_bytes + one.read_bytes,
            writes: all.writes + one.writes,
            write_bytes: all.write_bytes + one.write_bytes,
            discards: optional(all.discards, one.discards),
            discard_bytes: optional(all.discard_bytes, one.discard_bytes),
            flushes: optional(all.flushes, one.flushes),
            busy_ns: all.busy_ns.max(one.busy_ns),
        })
    })?
}

fn between_counters(before: &BlockCounters, after: &BlockCounters) -> Option<DeviceUse> {
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
        let used = between_counters(&before, &after).expect("they went on");
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
        let used = between_counters(&busy(BUSY_MS_WRAP - 1, 0), &busy(2, 0)).expect("wrapped");
        assert_eq!(used.busy_ns, 3_000_000);
        assert_eq!(between_counters(&busy(0, 9), &busy(0, 1)), None);
    }

    #[test]
    fn several_disks_are_counted_together_and_as_busy_as_the_busiest() {
        let disk = |writes, busy_ms, flushes| BlockCounters {
            writes,
            write_bytes: writes * 512,
            busy_ms,
            flushes,
            ..BlockCounters::default()
        };
        let before = DeviceReading(vec![disk(1, 5, Some(0)), disk(2, 5, Some(1))]);
        let after = DeviceReading(vec![disk(4, 9, Some(2)), disk(9, 7, Some(4))]);
        let used = between(&before, &after).expect("they went on");
        assert_eq!((used.writes, used.write_bytes), (10, 10 * 512));
        assert_eq!((used.busy_ns, used.flushes), (4_000_000, Some(5)));
        assert_eq!(after.write_bytes(), 13 * 512);
        let reset = DeviceReading(vec![disk(0, 9, None), disk(9, 7, None)]);
        assert_eq!(between(&before, &reset), None);
    }
}
