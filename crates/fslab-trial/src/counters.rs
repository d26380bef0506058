//! What the block device below a file system did between two moments.

use std::path::Path;

use fslab_model::DeviceUse;
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
        // Btrfs numbers its subvolumes itself; what was mounted tells the device.
        let source = fslab_fs::recognise(directory).ok()?.source;
        Self::of_device(Path::new(&source))
    }

    /// The device's name in the kernel.
    pub(crate) fn name(self) -> Option<String> {
        self.0.kernel_name()
    }

    pub(crate) fn read(self) -> Option<BlockCounters> {
        self.0.counters().ok()
    }
}

/// What was counted from `before` to `after`.
pub(crate) fn between(before: &BlockCounters, after: &BlockCounters) -> DeviceUse {
    let optional = |after: Option<u64>, before: Option<u64>| Some(after? - before?);
    DeviceUse {
        reads: after.reads - before.reads,
        read_bytes: after.read_bytes - before.read_bytes,
        writes: after.writes - before.writes,
        write_bytes: after.write_bytes - before.write_bytes,
        discards: optional(after.discards, before.discards),
        discard_bytes: optional(after.discard_bytes, before.discard_bytes),
        flushes: optional(after.flushes, before.flushes),
        busy_ns: (after.busy_ms - before.busy_ms) * 1_000_000,
    }
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
        let used = between(&before, &after);
        assert_eq!(
            (used.reads, used.busy_ns, used.flushes),
            (5, 2_000_000, None)
        );
    }
}
