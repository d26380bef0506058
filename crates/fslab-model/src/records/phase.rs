//! The record of one phase.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    CachePolicy, DeviceInsight, Disturbance, Failure, HostCost, LatencyHistogram, MetricDefinition,
};
use crate::{Parameters, Round, Swept, ValueList, Window};

/// The side of the device that a phase's application bytes are compared with.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, strum::IntoStaticStr,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum PhaseKind {
    /// Reads file data.
    Read,
    /// Writes file data.
    Write,
    /// Reads and writes file data.
    Mixed,
    /// Works on names and attributes.
    Metadata,
}

impl PhaseKind {
    /// The kind as it is serialised.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// The figure by which phases are compared. It is written as a word: `throughput`,
/// `operation-rate`, `duration`, or the name of its metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Headline {
    /// Bytes per second.
    Throughput,
    /// Operations per second.
    OperationRate,
    /// Duration; less is better.
    Duration,
    /// Another metric that has a good direction, such as a percentile of latency.
    Figure(&'static MetricDefinition),
}

/// How a phase ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub enum PhaseOutcome {
    /// It completed.
    Done,
    /// Not run, for a reason known beforehand.
    Skipped {
        /// The reason.
        reason: String,
    },
    /// It failed; figures of a failed phase are not kept.
    Failed {
        /// Why.
        failure: Failure,
    },
}

impl PhaseOutcome {
    /// Why a phase is skipped after the phase `failed`.
    pub fn reason_after(failed: &str) -> String {
        format!("the phase '{failed}' before it failed")
    }
}

/// Latencies of one kind of operation in a phase.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OperationLatency {
    /// `read`, `write`, `fsync`, `create`, `stat`, ...
    pub operation: String,
    /// Their latencies.
    pub histogram: LatencyHistogram,
}

/// Progress over time: entry `i` counts what completed in
/// `[i * interval_ns, (i + 1) * interval_ns)` after the phase began.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TimeSeries {
    /// Width of an interval.
    pub interval_ns: u64,
    /// Operations completed in each interval.
    pub operations: Vec<u64>,
    /// Bytes moved by them.
    pub bytes: Vec<u64>,
}

/// No simulated disk responds faster. Reading the virtual clock advances it by some hundred
/// nanoseconds, so a shorter phase did nothing else.
const WAIT_NS_MIN: u64 = 5_000;

/// The least share of disk work with which the disk decides a figure of virtual time.
pub const DISK_WORK_LEAST: f64 = 0.5;

/// Auxiliary operations, which are not part of a phase's latency.
const AUXILIARY_OPERATIONS: &[&str] = &[
    "fsync",
    "fdatasync",
    "sync-file-range",
    "msync",
    "barrier",
    "sync-to-drive",
    "syncfs",
    "fsync-directory",
    "list",
    "remove-directory",
];

/// Processor use of the trial's process and its threads, from getrusage(2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CpuUse {
    /// Time in user mode.
    pub user_ns: u64,
    /// Time in the kernel on behalf of the process, without kernel threads.
    pub system_ns: u64,
    /// Context switches while waiting; `None` where the platform does not count them.
    pub voluntary_switches: Option<u64>,
    /// Context switches by preemption.
    pub involuntary_switches: Option<u64>,
}

/// The work of one of several threads or processes of a phase.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadRecord {
    /// From the start of its first operation to the end of its last.
    pub elapsed_ns: u64,
    /// Operations that it completed.
    pub operations: u64,
    /// Bytes that it moved.
    pub bytes: u64,
    /// Its latencies by kind of operation.
    pub latencies: Vec<OperationLatency>,
    /// Its processor use.
    pub cpu: Option<CpuUse>,
}

/// The block device's activity during a phase, from /sys/block/DEVICE/stat, on behalf of any
/// process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeviceUse {
    /// Read requests completed.
    pub reads: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Write requests completed.
    pub writes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Discard requests completed; `None` if the kernel does not count them.
    pub discards: Option<u64>,
    /// Bytes discarded.
    pub discard_bytes: Option<u64>,
    /// Flush requests completed; `None` if the kernel does not count them.
    pub flushes: Option<u64>,
    /// Time with the device busy.
    pub busy_ns: u64,
}

/// Sync and unmount right after a phase, timed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Settled {
    /// syncfs(2).
    pub sync_ns: u64,
    /// umount(2).
    pub unmount_ns: u64,
}

/// Whether the application's bytes came from or went to the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum CacheVerdict {
    /// The device moved at least nine tenths of the application's bytes.
    Device,
    /// Between a tenth and nine tenths.
    Mixed,
    /// Less than a tenth: a figure of the page cache.
    Cache,
}

impl CacheVerdict {
    /// The verdict in one word.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// One phase of one trial. `None` means not measured, never zero.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PhaseRecord {
    /// The phase's name in its study.
    pub name: String,
    /// The workload.
    pub workload: String,
    /// Its kind.
    pub kind: PhaseKind,
    /// The figure for comparisons.
    pub headline: Headline,
    /// The cache policy.
    pub cache: CachePolicy,
    /// All parameters of the workload.
    pub parameters: Parameters,
    /// Its outcome.
    #[serde(flatten)]
    pub outcome: PhaseOutcome,
    /// From the start of the first operation to the end of the last, a final fsync included.
    pub elapsed_ns: Option<u64>,
    /// Operations completed.
    pub operations: Option<u64>,
    /// Bytes that the application asked to move; `None` for a phase that moves no data.
    pub bytes: Option<u64>,
    /// Latencies by kind of operation.
    pub latencies: Vec<OperationLatency>,
    /// Progress over time.
    pub series: Option<TimeSeries>,
    /// Processor use.
    pub cpu: Option<CpuUse>,
    /// The device's activity; `None` without a device.
    pub device: Option<DeviceUse>,
    /// Sync and unmount right after it, if the study has them timed.
    pub settled: Option<Settled>,
    /// The work of each thread, in order; empty for a single one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub threads: Vec<ThreadRecord>,
    /// Time at which the first of several threads finished; until then all were active.
    #[serde(default)]
    pub first_done_ns: Option<u64>,
    /// Share of the time spent in fslab itself, 0 to 1, as calibrated before the phases.
    #[serde(default)]
    pub harness_share: Option<f64>,
    /// In virtual time, the window of its measured part: from the first operation to the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<Window>,
    /// The simulated disk's work in `window`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub insight: Option<DeviceInsight>,
    /// In virtual time, the window of the sync and the unmount right after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settle_window: Option<Window>,
    /// The simulated disk's work in `settle_window`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settle_insight: Option<DeviceInsight>,
    /// In virtual time, the cost of the phase to the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<HostCost>,
    /// Its round in the trial; `None` if the phases run once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round: Option<Round>,
    /// Notes that qualify the figures.
    pub notes: Vec<String>,
    /// Disturbances above their thresholds; empty if none are known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disturbances: Vec<Disturbance>,
    /// Its point in a sweep; `None` for a phase that runs once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub swept: Option<Swept>,
    /// Figures of this workload alone, by the names of their metrics.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub figures: BTreeMap<String, f64>,
    /// Figures with many values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lists: Vec<ValueList>,
}

impl PhaseRecord {
    /// A record of `outcome` without figures.
    pub fn empty(
        spec: &crate::PhaseSpec,
        kind: PhaseKind,
        headline: Headline,
        outcome: PhaseOutcome,
    ) -> Self {
        Self {
            name: spec.name.clone(),
            workload: spec.workload.clone(),
            kind,
            headline,
            cache: spec.cache,
            parameters: spec.parameters.clone(),
            outcome,
            elapsed_ns: None,
            operations: None,
            bytes: None,
            latencies: Vec::new(),
            series: None,
            cpu: None,
            device: None,
            settled: None,
            threads: Vec::new(),
            first_done_ns: None,
            harness_share: None,
            window: None,
            insight: None,
            settle_window: None,
            settle_insight: None,
            host: None,
            round: None,
            notes: Vec::new(),
            disturbances: Vec::new(),
            swept: spec.swept.clone(),
            figures: BTreeMap::new(),
            lists: Vec::new(),
        }
    }

    /// Withdraws all figures, with `failure` as the reason. Failed or skipped phases have none.
    pub fn withdraw(&mut self, failure: &Failure) {
        if self.outcome != PhaseOutcome::Done {
            return;
        }
        let mut spec = crate::PhaseSpec::new(&self.name, &self.workload, self.parameters.clone());
        spec.cache = self.cache;
        spec.swept = self.swept.take();
        let outcome = PhaseOutcome::Failed {
            failure: failure.clone(),
        };
        let mut notes = std::mem::take(&mut self.notes);
        notes.push("it ran to its end, and its figures are withdrawn".to_owned());
        *self = Self {
            round: self.round,
            notes,
            disturbances: std::mem::take(&mut self.disturbances),
            ..Self::empty(&spec, self.kind, self.headline, outcome)
        };
    }

    /// The phase's name in its study: points of one sweep share it.
    pub fn study_phase(&self) -> &str {
        self.swept.as_ref().map_or(&self.name, |swept| &swept.phase)
    }

    /// The phase, its sync and its unmount together; `None` if these were not timed.
    pub fn total_ns(&self) -> Option<u64> {
        let (settled, elapsed_ns) = self.settled.zip(self.elapsed_ns)?;
        Some(elapsed_ns + settled.sync_ns + settled.unmount_ns)
    }

    /// True if only the disk took time: in virtual time with a processor that takes none, which has
    /// no processor time to record.
    pub fn is_of_disk_time(&self) -> bool {
        self.insight.is_some() && self.cpu.is_none()
    }

    /// True if only the disk took time, and the phase never waited for it: it took no time and has
    /// no rate. The disk may have worked for other processes.
    pub fn took_no_device_time(&self) -> bool {
        if !self.is_of_disk_time() {
            return false;
        }
        let waited = self.elapsed_ns.is_none_or(|ns| ns >= WAIT_NS_MIN);
        let idle = |insight: &DeviceInsight| insight.depth.busy_ns == 0 || !waited;
        self.insight.as_ref().is_some_and(idle)
    }

    /// The phase's latencies, in one histogram; `None` if none was recorded.
    ///
    /// Auxiliary syncs and listings, such as a final fsync, are left out. If every operation is
    /// made durable, its latency is that of the sync: then only the latencies of syncs count.
    pub fn latency(&self) -> Option<LatencyHistogram> {
        let merged = |is_auxiliary: bool| {
            let mut of_kind = self
                .latencies
                .iter()
                .filter(|it| AUXILIARY_OPERATIONS.contains(&it.operation.as_str()) == is_auxiliary);
            let mut merged = of_kind.next()?.histogram.clone();
            of_kind.for_each(|it| merged.merge(&it.histogram));
            Some(merged)
        };
        let count = |of: &Option<LatencyHistogram>| of.as_ref().map_or(0, LatencyHistogram::count);
        let (operations, auxiliary) = (merged(false), merged(true));
        let known_by = if count(&auxiliary) >= count(&operations) {
            auxiliary
        } else {
            operations
        };
        known_by.filter(|known_by| known_by.count() > 0)
    }

    /// Device bytes over application bytes, on the phase's side of the device.
    ///
    /// `None` for phases without data, and without counters of the device.
    pub fn device_share(&self) -> Option<f64> {
        let (device, bytes) = (self.device?, self.bytes.filter(|bytes| *bytes > 0)?);
        let moved = match self.kind {
            PhaseKind::Read => device.read_bytes,
            PhaseKind::Write => device.write_bytes,
            PhaseKind::Mixed => device.read_bytes + device.write_bytes,
            PhaseKind::Metadata => return None,
        };
        Some(moved as f64 / bytes as f64)
    }

    /// The part of the application's bytes that the device did not move: they came from memory, or
    /// are still there. `None` as in `device_share`, and for data that a file system may compress
    /// to nearly nothing.
    pub fn memory_share(&self) -> Option<f64> {
        Some((1.0 - self.moved_share()?).max(0.0))
    }

    /// What the disk did of the phase: the share of the time in which it worked, or of the
    /// application's bytes that it moved, whichever is less. `None` unless only the disk took time.
    pub fn disk_work(&self) -> Option<f64> {
        let insight = self.insight.as_ref().filter(|_| self.is_of_disk_time())?;
        let of_time = match insight.window.length_ns() {
            0 => 0.0,
            length_ns => insight.depth.busy_ns as f64 / length_ns as f64,
        };
        Some(of_time.min(self.moved_share().unwrap_or(1.0)))
    }

    /// Device bytes over what a file system cannot make smaller of the application's bytes.
    fn moved_share(&self) -> Option<f64> {
        let solid = self.solid_share();
        let share = self.device_share().filter(|_| solid > 0.0)?;
        Some(share / solid)
    }

    /// Whether the figures are of the device or of the page cache. `None` also for data of which a
    /// file system that compresses may write nearly nothing.
    pub fn cache_verdict(&self) -> Option<CacheVerdict> {
        let share = self.device_share()?;
        let solid = self.solid_share();
        // Of what a file system cannot make smaller, so much was moved.
        let moved = if solid > 0.0 { share / solid } else { share };
        if moved >= 0.9 {
            Some(CacheVerdict::Device)
        } else if solid <= 0.0 {
            None
        } else if moved >= 0.1 {
            Some(CacheVerdict::Mixed)
        } else {
            Some(CacheVerdict::Cache)
        }
    }

    /// The share of the data that neither compression nor deduplication makes smaller, by the
    /// parameters of its content.
    fn solid_share(&self) -> f64 {
        let percent = |name: &str| {
            let content = self.parameters.get("content");
            let value = content.and_then(|it| it.get(name)?.as_f64());
            value.unwrap_or(0.0).clamp(0.0, 100.0)
        };
        (1.0 - percent("compressible_percent") / 100.0)
            * (1.0 - percent("duplicate_percent") / 100.0)
    }
}
