//! Whether a phase that asked for durable data made the disk keep it: by the trace of the simulated
//! disk, or by the flushes that a device counts.
//!
//! A disk with a volatile cache may lose what it has completed until it is flushed, or until a
//! write goes past the cache (FUA). So a sync that writes and causes neither is no promise to keep.

use crate::{DeviceInsight, PhaseKind, PhaseRecord};

/// Operations that make data durable, by the name of their latencies. sync_file_range(2) is none:
/// it flushes no device.
const DURABLE_OPERATIONS: &[&str] = &[
    "fsync",
    "fsync-file",
    "fdatasync",
    "msync",
    "sync",
    "syncfs",
    "fsync-directory",
    "commit",
];

/// The parameter of files that are opened with O_SYNC or O_DSYNC, and its value for neither.
const OPEN_SYNC: (&str, &str) = ("open_sync", "none");

/// What asked for durable data in a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asked {
    /// Operations of the phase, or files opened with O_SYNC or O_DSYNC.
    Within,
    /// The sync right after the phase.
    Settling,
}

impl PhaseRecord {
    /// True if the phase asked for durable data, and the disk got no flush and no FUA write for it.
    /// On a disk with a volatile cache its durability is not real. False if neither a trace nor a
    /// count of flushes is there, if nothing asked for durable data, or if nothing was to be made
    /// durable.
    pub fn is_unflushed(&self) -> bool {
        let Some(asked) = self.asked() else {
            return false;
        };
        let (Some(during), after) = (&self.insight, &self.settle_insight) else {
            return self.counts_no_flush();
        };
        let seen = match (asked, after) {
            (Asked::Within, _) => vec![during],
            (Asked::Settling, Some(after)) => vec![during, after],
            (Asked::Settling, None) => return false,
        };
        let has_changed = match (self.kind, asked) {
            (PhaseKind::Write, _) | (PhaseKind::Mixed | PhaseKind::Metadata, Asked::Within) => true,
            (PhaseKind::Read, _) | (_, Asked::Settling) => {
                seen.iter().any(|insight| insight.writes.all.requests > 0)
            }
        };
        has_changed && !seen.into_iter().any(keeps)
    }

    /// True if operations of the phase made data durable.
    pub fn has_synced(&self) -> bool {
        let is_durable = |name: &str| DURABLE_OPERATIONS.contains(&name);
        let mut kinds = self.latencies.iter();
        kinds.any(|it| is_durable(&it.operation) && it.histogram.count() > 0)
    }

    /// True if calls of the phase made data durable, and the device counted no flush in it. FUA
    /// writes are not counted, but no such call is answered by them alone: files opened with O_SYNC
    /// are left out, whose direct writes can be.
    fn counts_no_flush(&self) -> bool {
        let counted = self
            .device
            .and_then(|device| Some((device.writes, device.flushes?)));
        match counted {
            Some((writes, 0)) => self.has_synced() && (self.kind == PhaseKind::Write || writes > 0),
            _ => false,
        }
    }

    fn asked(&self) -> Option<Asked> {
        let (name, off) = OPEN_SYNC;
        let opened = self.parameters.get(name).and_then(|value| value.as_str());
        if self.has_synced() || opened.is_some_and(|value| value != off) {
            return Some(Asked::Within);
        }
        self.settled.is_some().then_some(Asked::Settling)
    }
}

/// True if the disk was flushed, or asked to keep a write.
fn keeps(insight: &DeviceInsight) -> bool {
    insight.flushes.all.requests > 0 || insight.fua_writes.requests > 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        DeviceUse, Headline, LatencyHistogram, OperationLatency, Parameters, PhaseOutcome,
        PhaseSpec, Settled, Traffic,
    };

    const ONE: Traffic = Traffic {
        requests: 1,
        bytes: 4096,
    };

    fn record(kind: PhaseKind, writes: Traffic) -> PhaseRecord {
        let spec = PhaseSpec::new("append", "append", Parameters::new());
        let headline = Headline::OperationRate;
        let mut record = PhaseRecord::empty(&spec, kind, headline, PhaseOutcome::Done);
        let mut insight = DeviceInsight::default();
        insight.writes.all = writes;
        record.insight = Some(insight);
        record
    }

    fn with_call(mut record: PhaseRecord, operation: &str) -> PhaseRecord {
        let mut histogram = LatencyHistogram::default();
        histogram.record(1_000);
        record.latencies.push(OperationLatency {
            operation: operation.into(),
            histogram,
        });
        record
    }

    #[test]
    fn an_fsync_that_writes_and_does_not_flush_is_marked() {
        for operation in ["fsync", "fsync-file", "commit"] {
            let synced = with_call(record(PhaseKind::Write, ONE), operation);
            assert!(synced.is_unflushed(), "{operation}");
        }
    }

    #[test]
    fn one_flush_or_one_fua_write_is_enough() {
        let mut flushed = with_call(record(PhaseKind::Write, ONE), "fsync");
        flushed.insight.as_mut().expect("set").flushes.all.requests = 1;
        assert!(!flushed.is_unflushed());
        let mut fua = with_call(record(PhaseKind::Write, ONE), "fdatasync");
        fua.insight.as_mut().expect("set").fua_writes = ONE;
        assert!(!fua.is_unflushed());
    }

    #[test]
    fn what_asks_for_nothing_durable_is_not_marked() {
        assert!(!record(PhaseKind::Write, ONE).is_unflushed());
        assert!(!with_call(record(PhaseKind::Write, ONE), "sync-file-range").is_unflushed());
    }

    #[test]
    fn without_a_trace_the_devices_count_of_flushes_is_the_evidence() {
        let mut real = with_call(record(PhaseKind::Write, ONE), "fsync");
        real.insight = None;
        assert!(!real.is_unflushed(), "nothing is known");
        let device = |flushes| {
            Some(DeviceUse {
                writes: 3,
                flushes,
                ..DeviceUse::default()
            })
        };
        real.device = device(None);
        assert!(!real.is_unflushed(), "flushes are not counted");
        real.device = device(Some(1));
        assert!(!real.is_unflushed());
        real.device = device(Some(0));
        assert!(real.is_unflushed());
        // A direct write to a file opened with O_DSYNC may be one with FUA, which is not counted.
        let mut opened = record(PhaseKind::Write, ONE);
        opened.insight = None;
        opened.device = device(Some(0));
        opened.parameters.insert("open_sync".into(), "data".into());
        assert!(!opened.is_unflushed());
    }

    #[test]
    fn files_opened_for_synchronous_writes_ask_for_durable_data() {
        let mut opened = record(PhaseKind::Write, ONE);
        opened.parameters.insert("open_sync".into(), "none".into());
        assert!(!opened.is_unflushed());
        opened.parameters.insert("open_sync".into(), "data".into());
        assert!(opened.is_unflushed());
    }

    #[test]
    fn a_settling_sync_counts_with_its_own_window() {
        let mut settled = record(PhaseKind::Metadata, ONE);
        settled.settled = Some(Settled::default());
        assert!(!settled.is_unflushed(), "its window is not known");
        settled.settle_insight = Some(DeviceInsight::default());
        assert!(settled.is_unflushed());
        let after = settled.settle_insight.as_mut().expect("set");
        after.flushes.all.requests = 1;
        assert!(!settled.is_unflushed());
    }

    #[test]
    fn a_read_with_nothing_to_make_durable_is_not_marked() {
        let nothing = Traffic::default();
        assert!(!with_call(record(PhaseKind::Read, nothing), "fsync").is_unflushed());
        assert!(with_call(record(PhaseKind::Read, ONE), "fsync").is_unflushed());
    }

    /// A flush after the phase does not make its own calls true.
    #[test]
    fn calls_within_the_phase_are_judged_within_it() {
        let mut late = with_call(record(PhaseKind::Write, ONE), "fsync");
        late.settled = Some(Settled::default());
        let mut after = DeviceInsight::default();
        after.flushes.all.requests = 1;
        late.settle_insight = Some(after);
        assert!(late.is_unflushed());
    }
}
