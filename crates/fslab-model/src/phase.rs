//! What one phase left behind.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    CachePolicy, DeviceInsight, Disturbance, Failure, HostCost, LatencyHistogram, MetricDefinition,
};
use crate::{Parameters, Round, Swept, ValueList, Window};

/// The side of the device that a phase's application bytes are compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
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

/// The figure that a phase is known by, and compared in. It is written as a word: `throughput`,
/// `operation-rate`, `duration`, or the name of its metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Headline {
    /// Bytes per second.
    Throughput,
    /// Operations per second.
    OperationRate,
    /// How long it took: less is better.
    Duration,
    /// Another metric that has a good direction, such as a percentile of latency.
    Figure(&'static MetricDefinition),
}

/// How a phase ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub enum PhaseOutcome {
    /// It ran to its end.
    Done,
    /// It was not run, for a reason known beforehand.
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

/// No simulated disk answers in less. Reading the virtual clock moves it by some hundred
/// nanoseconds: a phase that took less than this has done nothing else.
const WAIT_NS_MIN: u64 = 5_000;

/// Operations that accompany those of a phase and are no part of its latency.
const COMPANIONS: &[&str] = &[
    "fsync",
    "fdatasync",
    "sync-file-range",
    "msync",
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
    /// Time in the kernel on behalf of the process; kernel threads are not in it.
    pub system_ns: u64,
    /// Context switches because it waited.
    pub voluntary_switches: u64,
    /// Context switches because its time was up.
    pub involuntary_switches: u64,
}

/// What one of several threads, or processes, of a phase did.
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

/// What the block device did meanwhile, from /sys/block/DEVICE/stat, for whomever.
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
    /// Discard requests completed; `None` where the kernel does not count them.
    pub discards: Option<u64>,
    /// Bytes discarded.
    pub discard_bytes: Option<u64>,
    /// Flush requests completed; `None` where the kernel does not count them.
    pub flushes: Option<u64>,
    /// Time in which the device was busy.
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

/// Whether the bytes that the application moved came from or went to the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheVerdict {
    /// The device moved at least nine tenths of the application's bytes.
    Device,
    /// Between a tenth and nine tenths.
    Mixed,
    /// Less than a tenth: this is a figure of the page cache.
    Cache,
}

impl CacheVerdict {
    /// The verdict in one word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Device => "device",
            Self::Mixed => "mixed",
            Self::Cache => "cache",
        }
    }
}

/// One phase of one trial. `None` is "not measured", never zero.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PhaseRecord {
    /// The phase's name in its study.
    pub name: String,
    /// The workload.
    pub workload: String,
    /// What it did.
    pub kind: PhaseKind,
    /// The figure it is known by.
    pub headline: Headline,
    /// What the caches held.
    pub cache: CachePolicy,
    /// All parameters of the workload.
    pub parameters: Parameters,
    /// How it ended.
    #[serde(flatten)]
    pub outcome: PhaseOutcome,
    /// From the first operation to the end of the last, a closing fsync included.
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
    /// What the device did; `None` where there is none to ask.
    pub device: Option<DeviceUse>,
    /// Sync and unmount right after it, where the study asks for them.
    pub settled: Option<Settled>,
    /// What each thread did, in their order; empty where there was one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub threads: Vec<ThreadRecord>,
    /// When the first of several threads had done its share: until then all were at work.
    #[serde(default)]
    pub first_done_ns: Option<u64>,
    /// Share of the time that the harness itself took, 0 to 1, as calibrated before the phases.
    #[serde(default)]
    pub harness_share: Option<f64>,
    /// When its measured part was, where time is virtual: from the first operation to the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<Window>,
    /// What the simulated disk did in `window`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub insight: Option<DeviceInsight>,
    /// When the sync and the unmount right after it were, where time is virtual.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settle_window: Option<Window>,
    /// What the simulated disk did in `settle_window`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settle_insight: Option<DeviceInsight>,
    /// What the phase cost the host, where time is virtual.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<HostCost>,
    /// Which of its trial's rounds it belongs to; `None` where the phases run once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round: Option<Round>,
    /// What a reader of the figures must know.
    pub notes: Vec<String>,
    /// What else took place meanwhile, past the thresholds; empty where nothing is known of any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disturbances: Vec<Disturbance>,
    /// Where it stands in a sweep; `None` for a phase that runs once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub swept: Option<Swept>,
    /// Figures that only this workload has, by the names of their metrics.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub figures: BTreeMap<String, f64>,
    /// Figures that have many values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lists: Vec<ValueList>,
}

impl PhaseRecord {
    /// A record of `outcome` without any figure.
    #[must_use]
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

    /// Takes all figures back: `failure` says why they are none. What failed already, or was not
    /// run, has none.
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
    #[must_use]
    pub fn study_phase(&self) -> &str {
        self.swept.as_ref().map_or(&self.name, |swept| &swept.phase)
    }

    /// The phase, its sync and its unmount together; `None` where these were not timed.
    #[must_use]
    pub fn total_ns(&self) -> Option<u64> {
        let (settled, elapsed_ns) = self.settled.zip(self.elapsed_ns)?;
        Some(elapsed_ns + settled.sync_ns + settled.unmount_ns)
    }

    /// Whether the phase ran in virtual time and never waited for its disk: then it took no time at
    /// all, and has no rate. The disk may have worked for others meanwhile.
    #[must_use]
    pub fn took_no_device_time(&self) -> bool {
        let waited = self.elapsed_ns.is_none_or(|ns| ns >= WAIT_NS_MIN);
        let idle = |insight: &DeviceInsight| insight.depth.busy_ns == 0 || !waited;
        self.insight.as_ref().is_some_and(idle)
    }

    /// Whether the phase ran in virtual time and its disk worked for less than half of it, but did
    /// work: the rest is waiting for timers.
    #[must_use]
    pub fn took_little_device_time(&self) -> bool {
        let little = |insight: &DeviceInsight| {
            let busy_ns = insight.depth.busy_ns;
            busy_ns > 0 && busy_ns < insight.window.length_ns() / 2
        };
        self.insight.as_ref().is_some_and(little)
    }

    /// The latencies that the phase is known by, in one histogram; `None` where none was recorded.
    ///
    /// Syncs and listings that merely accompany the operations, such as a closing fsync, stay out.
    /// Where every operation is made durable, the sync is what one waits for: then its latencies
    /// alone are taken.
    #[must_use]
    pub fn latency(&self) -> Option<LatencyHistogram> {
        let merged = |accompanying: bool| {
            let mut of_kind = self
                .latencies
                .iter()
                .filter(|it| COMPANIONS.contains(&it.operation.as_str()) == accompanying);
            let mut merged = of_kind.next()?.histogram.clone();
            of_kind.for_each(|it| merged.merge(&it.histogram));
            Some(merged)
        };
        let count = |of: &Option<LatencyHistogram>| of.as_ref().map_or(0, LatencyHistogram::count);
        let (operations, companions) = (merged(false), merged(true));
        let known_by = if count(&companions) >= count(&operations) {
            companions
        } else {
            operations
        };
        known_by.filter(|known_by| known_by.count() > 0)
    }

    /// Device bytes over application bytes, on the phase's own side of the device.
    ///
    /// `None` for phases without data, or where the device was not asked.
    #[must_use]
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

    /// Whether this figure is one of the device or of the page cache.
    #[must_use]
    pub fn cache_verdict(&self) -> Option<CacheVerdict> {
        self.device_share().map(|share| {
            if share >= 0.9 {
                CacheVerdict::Device
            } else if share >= 0.1 {
                CacheVerdict::Mixed
            } else {
                CacheVerdict::Cache
            }
        })
    }
}
