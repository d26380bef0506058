//! The figures that are made of a record: their names, units and formulas. docs/figures.md defines
//! each of them with its bias.

use crate::{
    Headline, LatencyHistogram, PhaseKind, PhaseOutcome, PhaseRecord, StepRecord, TrialRecord,
};

/// Unit of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Bytes per second.
    BytesPerSecond,
    /// Operations per second.
    OperationsPerSecond,
    /// Nanoseconds.
    Nanoseconds,
    /// Bytes.
    Bytes,
    /// A count.
    Count,
    /// A ratio without unit.
    Ratio,
}

impl Unit {
    /// The unit as it stands in tables and exports.
    #[must_use]
    pub fn symbol(self) -> &'static str {
        match self {
            Self::BytesPerSecond => "B/s",
            Self::OperationsPerSecond => "op/s",
            Self::Nanoseconds => "ns",
            Self::Bytes => "B",
            Self::Count => "1",
            Self::Ratio => "1",
        }
    }
}

/// Which direction is an improvement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// More is better.
    Higher,
    /// Less is better.
    Lower,
    /// Neither: a description.
    Neither,
}

/// The definition of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MetricDefinition {
    /// Its name in the store and in exports.
    pub name: &'static str,
    /// Its unit.
    pub unit: Unit,
    /// Its good direction.
    pub better: Better,
    /// One line.
    pub title: &'static str,
}

/// One value of a metric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Metric {
    /// What it is.
    pub definition: &'static MetricDefinition,
    /// How much; finite.
    pub value: f64,
}

macro_rules! metrics {
    ($($constant:ident, $name:literal, $unit:ident, $better:ident, $title:literal;)*) => {
        $(#[doc = $title] pub const $constant: MetricDefinition = MetricDefinition {
            name: $name, unit: Unit::$unit, better: Better::$better, title: $title,
        };)*
        /// Every metric there is, in the order in which reports show them.
        pub const METRICS: &[MetricDefinition] = &[$($constant),*];
    };
}

/// The definitions by name.
pub mod definitions {
    use super::{Better, MetricDefinition, Unit};

    metrics! {
        THROUGHPUT, "throughput", BytesPerSecond, Higher, "application bytes per second";
        OPERATION_RATE, "operation_rate", OperationsPerSecond, Higher, "operations per second";
        DURABLE_THROUGHPUT, "durable_throughput", BytesPerSecond, Higher,
            "bytes per second of write, fsync, sync and unmount together";
        ELAPSED, "elapsed_ns", Nanoseconds, Lower, "duration of the phase";
        OPERATIONS, "operations", Count, Neither, "operations completed";
        BYTES, "bytes", Bytes, Neither, "application bytes moved";
        LATENCY_P50, "latency_ns_p50", Nanoseconds, Lower, "median latency";
        LATENCY_P95, "latency_ns_p95", Nanoseconds, Lower, "95th percentile of latency";
        LATENCY_P99, "latency_ns_p99", Nanoseconds, Lower, "99th percentile of latency";
        LATENCY_P999, "latency_ns_p999", Nanoseconds, Lower, "99.9th percentile of latency";
        LATENCY_MAX, "latency_ns_max", Nanoseconds, Lower, "largest latency";
        CPU_USER, "cpu_user_ns", Nanoseconds, Lower, "processor time in user mode";
        CPU_SYSTEM, "cpu_system_ns", Nanoseconds, Lower, "processor time in the kernel";
        SWITCHES_VOLUNTARY, "switches_voluntary", Count, Lower, "voluntary context switches";
        SWITCHES_INVOLUNTARY, "switches_involuntary", Count, Lower, "involuntary context switches";
        DEVICE_READS, "device_reads", Count, Lower, "read requests at the device";
        DEVICE_READ_BYTES, "device_read_bytes", Bytes, Lower, "bytes read from the device";
        DEVICE_WRITES, "device_writes", Count, Lower, "write requests at the device";
        DEVICE_WRITE_BYTES, "device_write_bytes", Bytes, Lower, "bytes written to the device";
        DEVICE_FLUSHES, "device_flushes", Count, Lower, "cache flushes at the device";
        DEVICE_DISCARD_BYTES, "device_discard_bytes", Bytes, Neither, "bytes discarded";
        DEVICE_BUSY, "device_busy_ns", Nanoseconds, Lower, "time in which the device was busy";
        WRITE_AMPLIFICATION, "write_amplification", Ratio, Lower,
            "device bytes written per application byte written";
        READ_AMPLIFICATION, "read_amplification", Ratio, Lower,
            "device bytes read per application byte read";
        SETTLE_SYNC, "settle_sync_ns", Nanoseconds, Lower, "sync right after the phase";
        SETTLE_UNMOUNT, "settle_unmount_ns", Nanoseconds, Lower, "unmount right after the phase";
        FIRST_DONE, "first_done_ns", Nanoseconds, Neither,
            "until the first of several threads was done";
        HARNESS_SHARE, "harness_share", Ratio, Lower, "share of the time that fslab took itself";
        MKFS, "mkfs_ns", Nanoseconds, Lower, "duration of mkfs";
        MOUNT, "mount_ns", Nanoseconds, Lower, "duration of the first mount";
        UNMOUNT, "unmount_ns", Nanoseconds, Lower, "duration of the last unmount";
        CHECK, "check_ns", Nanoseconds, Lower, "duration of the check";
    }
}
pub use definitions::METRICS;

fn metric(definition: &'static MetricDefinition, value: Option<f64>) -> Option<Metric> {
    value
        .filter(|value| value.is_finite())
        .map(|value| Metric { definition, value })
}

/// `count` per second of `ns` nanoseconds; `None` where no time passed.
fn per_second(count: Option<u64>, ns: Option<u64>) -> Option<f64> {
    let ns = ns.filter(|ns| *ns > 0)?;
    Some(count? as f64 * 1e9 / ns as f64)
}

/// The figures of a phase; nothing for one that was skipped or failed.
#[must_use]
pub fn phase_metrics(phase: &PhaseRecord) -> Vec<Metric> {
    use definitions as d;
    if phase.outcome != PhaseOutcome::Done {
        return Vec::new();
    }
    let float = |value: u64| value as f64;
    let latency = phase.latency();
    let percentile = |p| latency.as_ref().and_then(|h| h.percentile_ns(p)).map(float);
    let device = phase.device;
    let share = |kind| {
        if phase.kind == kind {
            phase.device_share()
        } else {
            None
        }
    };
    let durable_ns = phase
        .settled
        .zip(phase.elapsed_ns)
        .map(|(settled, elapsed)| elapsed + settled.sync_ns + settled.unmount_ns)
        .filter(|_| phase.kind == PhaseKind::Write);
    [
        metric(&d::THROUGHPUT, per_second(phase.bytes, phase.elapsed_ns)),
        metric(
            &d::OPERATION_RATE,
            per_second(phase.operations, phase.elapsed_ns),
        ),
        metric(&d::DURABLE_THROUGHPUT, per_second(phase.bytes, durable_ns)),
        metric(&d::ELAPSED, phase.elapsed_ns.map(float)),
        metric(&d::OPERATIONS, phase.operations.map(float)),
        metric(&d::BYTES, phase.bytes.map(float)),
        metric(&d::LATENCY_P50, percentile(50.0)),
        metric(&d::LATENCY_P95, percentile(95.0)),
        metric(&d::LATENCY_P99, percentile(99.0)),
        metric(&d::LATENCY_P999, percentile(99.9)),
        metric(
            &d::LATENCY_MAX,
            latency
                .as_ref()
                .and_then(LatencyHistogram::max_ns)
                .map(float),
        ),
        metric(&d::CPU_USER, phase.cpu.map(|cpu| float(cpu.user_ns))),
        metric(&d::CPU_SYSTEM, phase.cpu.map(|cpu| float(cpu.system_ns))),
        metric(
            &d::SWITCHES_VOLUNTARY,
            phase.cpu.map(|cpu| float(cpu.voluntary_switches)),
        ),
        metric(
            &d::SWITCHES_INVOLUNTARY,
            phase.cpu.map(|cpu| float(cpu.involuntary_switches)),
        ),
        metric(&d::DEVICE_READS, device.map(|device| float(device.reads))),
        metric(
            &d::DEVICE_READ_BYTES,
            device.map(|device| float(device.read_bytes)),
        ),
        metric(&d::DEVICE_WRITES, device.map(|device| float(device.writes))),
        metric(
            &d::DEVICE_WRITE_BYTES,
            device.map(|device| float(device.write_bytes)),
        ),
        metric(
            &d::DEVICE_FLUSHES,
            device.and_then(|device| device.flushes).map(float),
        ),
        metric(
            &d::DEVICE_DISCARD_BYTES,
            device.and_then(|d| d.discard_bytes).map(float),
        ),
        metric(&d::DEVICE_BUSY, device.map(|device| float(device.busy_ns))),
        metric(&d::WRITE_AMPLIFICATION, share(PhaseKind::Write)),
        metric(&d::READ_AMPLIFICATION, share(PhaseKind::Read)),
        metric(
            &d::SETTLE_SYNC,
            phase.settled.map(|settled| float(settled.sync_ns)),
        ),
        metric(
            &d::SETTLE_UNMOUNT,
            phase.settled.map(|settled| float(settled.unmount_ns)),
        ),
        metric(&d::FIRST_DONE, phase.first_done_ns.map(float)),
        metric(&d::HARNESS_SHARE, phase.harness_share),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The figures of a trial as a whole: mkfs, first mount, last unmount, check.
#[must_use]
pub fn trial_metrics(trial: &TrialRecord) -> Vec<Metric> {
    use definitions as d;
    let first = |step: &str| trial.steps.iter().find(|record| record.step == step);
    let last = |step: &str| trial.steps.iter().rev().find(|record| record.step == step);
    let elapsed = |record: Option<&StepRecord>| record.map(|record| record.elapsed_ns as f64);
    [
        metric(&d::MKFS, elapsed(first("mkfs"))),
        metric(&d::MOUNT, elapsed(first("mount"))),
        metric(&d::UNMOUNT, elapsed(last("unmount"))),
        metric(&d::CHECK, elapsed(last("check"))),
    ]
    .into_iter()
    .flatten()
    .collect()
}

impl Headline {
    /// The metric that a phase of this headline is known by.
    #[must_use]
    pub fn metric(self) -> &'static MetricDefinition {
        match self {
            Self::Throughput => &definitions::THROUGHPUT,
            Self::OperationRate => &definitions::OPERATION_RATE,
        }
    }
}

impl MetricDefinition {
    /// The definition of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        METRICS.iter().find(|definition| definition.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CachePolicy, CacheVerdict, DeviceUse, PhaseSpec, Settled};

    fn write_phase() -> PhaseRecord {
        let spec = PhaseSpec {
            name: "write".into(),
            workload: "write".into(),
            cache: CachePolicy::Keep,
            settle: true,
            parameters: crate::Parameters::new(),
        };
        let mut phase = PhaseRecord::empty(
            &spec,
            PhaseKind::Write,
            Headline::Throughput,
            PhaseOutcome::Done,
        );
        phase.elapsed_ns = Some(1_000_000_000);
        phase.bytes = Some(1_000);
        phase.operations = Some(10);
        phase
    }

    fn value(phase: &PhaseRecord, name: &str) -> Option<f64> {
        phase_metrics(phase)
            .iter()
            .find(|m| m.definition.name == name)
            .map(|m| m.value)
    }

    #[test]
    fn durable_throughput_counts_the_sync_and_the_unmount() {
        let mut phase = write_phase();
        assert_eq!(value(&phase, "durable_throughput"), None);
        phase.settled = Some(Settled {
            sync_ns: 400_000_000,
            unmount_ns: 600_000_000,
        });
        assert_eq!(value(&phase, "throughput"), Some(1000.0));
        assert_eq!(value(&phase, "durable_throughput"), Some(500.0));
    }

    #[test]
    fn the_cache_verdict_compares_device_bytes_with_application_bytes() {
        let mut phase = write_phase();
        assert_eq!(phase.cache_verdict(), None);
        phase.device = Some(DeviceUse {
            write_bytes: 1_500,
            ..DeviceUse::default()
        });
        assert_eq!(value(&phase, "write_amplification"), Some(1.5));
        assert_eq!(phase.cache_verdict(), Some(CacheVerdict::Device));
        phase.device = Some(DeviceUse::default());
        assert_eq!(phase.cache_verdict(), Some(CacheVerdict::Cache));
    }

    #[test]
    fn a_phase_that_was_skipped_has_no_figures() {
        let mut phase = write_phase();
        phase.outcome = PhaseOutcome::Skipped {
            reason: "no".into(),
        };
        assert!(phase_metrics(&phase).is_empty());
    }

    #[test]
    fn a_phase_that_took_no_time_has_no_rate() {
        let mut phase = write_phase();
        phase.elapsed_ns = Some(0);
        assert_eq!(value(&phase, "throughput"), None);
    }
}
