//! Metrics derived from records: names, units and formulas. docs/figures.md defines each with its
//! bias.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::text::text_type::text_schema;
use crate::{Headline, PhaseKind, PhaseOutcome, PhaseRecord, StepRecord, TrialRecord};

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
    /// The unit in tables and exports.
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum Better {
    /// More is better.
    Higher,
    /// Less is better.
    Lower,
    /// Neither: descriptive.
    Neither,
}

impl Better {
    /// Its name in the store and in exports.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// The value of a metric as a speed, of which more is better: its reciprocal where less is
    /// better; `None` where neither is.
    pub fn speed(self, value: f64) -> Option<f64> {
        match self {
            Self::Higher => Some(value),
            Self::Lower => Some(value.recip()),
            Self::Neither => None,
        }
    }
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
    /// Its definition.
    pub definition: &'static MetricDefinition,
    /// The value; finite.
    pub value: f64,
}

macro_rules! metrics {
    ($($constant:ident, $name:literal, $unit:ident, $better:ident, $title:literal;)*) => {
        $(#[doc = $title] pub const $constant: MetricDefinition = MetricDefinition {
            name: $name, unit: Unit::$unit, better: Better::$better, title: $title,
        };)*
        /// Every metric, in the order of reports.
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
        MEDIA_WRITE_AMPLIFICATION, "media_write_amplification", Ratio, Lower,
            "bytes written to the media per application byte written";
        SEEKS, "seeks", Count, Lower, "accesses to the media away from the one before";
        SEEK_BYTES_MEAN, "seek_bytes_mean", Bytes, Lower, "mean distance of a seek";
        SEQUENTIAL_SHARE, "sequential_share", Ratio, Higher,
            "share of the requests that go on where the one before ended";
        METADATA_SHARE, "metadata_share", Ratio, Neither,
            "share of the bytes moved that are marked as metadata";
        QUEUE_DEPTH_MEAN, "queue_depth_mean", Ratio, Neither,
            "mean number of requests in the disk";
        DEVICE_IDLE, "device_idle_ns", Nanoseconds, Neither,
            "time in which the disk had no request";
        SETTLE_SYNC, "settle_sync_ns", Nanoseconds, Lower, "sync right after the phase";
        SETTLE_UNMOUNT, "settle_unmount_ns", Nanoseconds, Lower, "unmount right after the phase";
        TOTAL, "total_ns", Nanoseconds, Lower, "the phase, its sync and its unmount together";
        CPU_SHARE, "cpu_share", Ratio, Neither,
            "processor time of the process per time of the phase";
        FIRST_DONE, "first_done_ns", Nanoseconds, Neither,
            "until the first of several threads was done";
        START_SKEW, "start_skew_ns", Nanoseconds, Neither,
            "from the start of the first rank to that of the last";
        HOST_CPU, "host_cpu_ns", Nanoseconds, Lower,
            "processor time of the simulated system on the host";
        HOST_REAL, "host_real_ns", Nanoseconds, Lower, "real time of the phase on the host";
        INLINE_THRESHOLD, "inline_threshold_bytes", Bytes, Neither,
            "largest file that is stored without a data block";
        INLINE_CREATE_GAIN, "inline_create_gain", Ratio, Higher,
            "creating files one byte above the threshold, per creating them at it";
        INLINE_READ_GAIN, "inline_read_gain", Ratio, Higher,
            "reading cold files one byte above the threshold, per reading them at it";
        READAHEAD_FIRST, "readahead_first_blocks", Count, Neither,
            "blocks that the first read brought in";
        READAHEAD_LARGEST, "readahead_largest_blocks", Count, Neither,
            "most blocks that one read brought in";
        READAHEAD_LIMIT, "readahead_limit_bytes", Bytes, Neither,
            "how far the kernel may read ahead";
        FIRST_READ_DEVICE_READS, "first_read_device_reads", Count, Lower,
            "read requests at the device for the first read";
        BYTES_HELD_MAX, "bytes_held_max", Bytes, Neither,
            "most application bytes that files held at a time";
        REPLAY_DEVIATIONS, "replay_deviations", Count, Lower,
            "operations of a trace that ended otherwise than recorded";
        REPLAY_DIFFERENCES, "replay_differences", Count, Lower,
            "names that are not as a trace left them";
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

/// `count` per second of `ns` nanoseconds; `None` if no time passed.
fn per_second(count: Option<u64>, ns: Option<u64>) -> Option<f64> {
    let ns = ns.filter(|ns| *ns > 0)?;
    Some(count? as f64 * 1e9 / ns as f64)
}

/// The figures of a phase; empty if it was skipped or failed.
pub fn phase_metrics(phase: &PhaseRecord) -> Vec<Metric> {
    if phase.outcome != PhaseOutcome::Done {
        return Vec::new();
    }
    let families = [
        rate_metrics(phase),
        latency_metrics(phase),
        cpu_metrics(phase),
        device_metrics(phase),
        insight_metrics(phase),
        closing_metrics(phase),
        own_metrics(phase),
    ];
    families.into_iter().flatten().collect()
}

/// The figures of the phase's workload alone.
fn own_metrics(phase: &PhaseRecord) -> Vec<Metric> {
    let own = phase.figures.iter().filter_map(|(name, value)| {
        let definition = METRICS.iter().find(|definition| definition.name == name)?;
        metric(definition, Some(*value))
    });
    own.collect()
}

/// A metric of a count, or of a duration.
fn count(definition: &'static MetricDefinition, value: Option<u64>) -> Option<Metric> {
    metric(definition, value.map(|value| value as f64))
}

fn present(metrics: impl IntoIterator<Item = Option<Metric>>) -> Vec<Metric> {
    metrics.into_iter().flatten().collect()
}

fn rate_metrics(phase: &PhaseRecord) -> Vec<Metric> {
    use definitions as d;
    let durable_ns = phase.total_ns().filter(|_| phase.kind == PhaseKind::Write);
    let timed_ns = phase.elapsed_ns.filter(|_| !phase.took_no_device_time());
    present([
        metric(&d::THROUGHPUT, per_second(phase.bytes, timed_ns)),
        metric(&d::OPERATION_RATE, per_second(phase.operations, timed_ns)),
        metric(&d::DURABLE_THROUGHPUT, per_second(phase.bytes, durable_ns)),
        count(&d::ELAPSED, phase.elapsed_ns),
        count(&d::OPERATIONS, phase.operations),
        count(&d::BYTES, phase.bytes),
    ])
}

fn latency_metrics(phase: &PhaseRecord) -> Vec<Metric> {
    use definitions as d;
    let latency = phase.latency().filter(|_| !phase.took_no_device_time());
    let Some(latency) = latency else {
        return Vec::new();
    };
    present([
        count(&d::LATENCY_P50, latency.percentile_ns(50.0)),
        count(&d::LATENCY_P95, latency.percentile_ns(95.0)),
        count(&d::LATENCY_P99, latency.percentile_ns(99.0)),
        count(&d::LATENCY_P999, latency.percentile_ns(99.9)),
        count(&d::LATENCY_MAX, latency.max_ns()),
    ])
}

fn cpu_metrics(phase: &PhaseRecord) -> Vec<Metric> {
    use definitions as d;
    let Some(cpu) = phase.cpu else {
        return Vec::new();
    };
    let elapsed_ns = phase.elapsed_ns.filter(|ns| *ns > 0);
    present([
        count(&d::CPU_USER, Some(cpu.user_ns)),
        count(&d::CPU_SYSTEM, Some(cpu.system_ns)),
        count(&d::SWITCHES_VOLUNTARY, cpu.voluntary_switches),
        count(&d::SWITCHES_INVOLUNTARY, cpu.involuntary_switches),
        metric(
            &d::CPU_SHARE,
            elapsed_ns.map(|ns| (cpu.user_ns + cpu.system_ns) as f64 / ns as f64),
        ),
    ])
}

fn device_metrics(phase: &PhaseRecord) -> Vec<Metric> {
    use definitions as d;
    let Some(device) = phase.device else {
        return Vec::new();
    };
    let share = |kind| phase.device_share().filter(|_| phase.kind == kind);
    // The kernel counts busy time in ticks; the simulated disk's own record is exact.
    let busy_ns = phase.insight.as_ref().map(|insight| insight.depth.busy_ns);
    present([
        count(&d::DEVICE_READS, Some(device.reads)),
        count(&d::DEVICE_READ_BYTES, Some(device.read_bytes)),
        count(&d::DEVICE_WRITES, Some(device.writes)),
        count(&d::DEVICE_WRITE_BYTES, Some(device.write_bytes)),
        count(&d::DEVICE_FLUSHES, device.flushes),
        count(&d::DEVICE_DISCARD_BYTES, device.discard_bytes),
        count(&d::DEVICE_BUSY, Some(busy_ns.unwrap_or(device.busy_ns))),
        metric(&d::WRITE_AMPLIFICATION, share(PhaseKind::Write)),
        metric(&d::READ_AMPLIFICATION, share(PhaseKind::Read)),
    ])
}

fn insight_metrics(phase: &PhaseRecord) -> Vec<Metric> {
    use definitions as d;
    let Some(insight) = &phase.insight else {
        return Vec::new();
    };
    let written = phase.bytes.filter(|bytes| *bytes > 0);
    let amplification = written
        .filter(|_| phase.kind == PhaseKind::Write)
        .map(|bytes| insight.media_write_bytes() as f64 / bytes as f64);
    present([
        metric(&d::MEDIA_WRITE_AMPLIFICATION, amplification),
        count(&d::SEEKS, Some(insight.seeks.seeks)),
        metric(&d::SEEK_BYTES_MEAN, insight.seeks.mean_bytes()),
        metric(&d::SEQUENTIAL_SHARE, insight.sequential_share()),
        metric(&d::METADATA_SHARE, insight.metadata_share()),
        metric(&d::QUEUE_DEPTH_MEAN, insight.mean_depth()),
        count(&d::DEVICE_IDLE, Some(insight.idle_ns())),
    ])
}

fn closing_metrics(phase: &PhaseRecord) -> Vec<Metric> {
    use definitions as d;
    present([
        count(
            &d::SETTLE_SYNC,
            phase.settled.map(|settled| settled.sync_ns),
        ),
        count(
            &d::SETTLE_UNMOUNT,
            phase.settled.map(|settled| settled.unmount_ns),
        ),
        count(&d::TOTAL, phase.total_ns()),
        count(&d::FIRST_DONE, phase.first_done_ns),
        count(&d::HOST_CPU, phase.host.map(|host| host.cpu_ns)),
        count(&d::HOST_REAL, phase.host.map(|host| host.real_ns)),
        metric(&d::HARNESS_SHARE, phase.harness_share),
    ])
}

/// The figures of a trial outside its phases: mkfs, first mount, last unmount, check.
pub fn trial_metrics(trial: &TrialRecord) -> Vec<Metric> {
    use definitions as d;
    let first = |step: &str| trial.steps.iter().find(|record| record.step == step);
    let last = |step: &str| trial.steps.iter().rev().find(|record| record.step == step);
    let elapsed = |record: Option<&StepRecord>| record.map(|record| record.elapsed_ns);
    present([
        count(&d::MKFS, elapsed(first("mkfs"))),
        count(&d::MOUNT, elapsed(first("mount"))),
        count(&d::UNMOUNT, elapsed(last("unmount"))),
        count(&d::CHECK, elapsed(last("check"))),
    ])
}

/// Headlines with a word that differs from their metric's name.
const HEADLINES: [(&str, Headline); 3] = [
    ("throughput", Headline::Throughput),
    ("operation-rate", Headline::OperationRate),
    ("duration", Headline::Duration),
];

impl Headline {
    /// The headline's metric.
    pub fn metric(self) -> &'static MetricDefinition {
        match self {
            Self::Throughput => &definitions::THROUGHPUT,
            Self::OperationRate => &definitions::OPERATION_RATE,
            Self::Duration => &definitions::ELAPSED,
            Self::Figure(metric) => metric,
        }
    }

    /// The headline of `metric`; `None` if it has no good direction, so that nothing can be
    /// compared.
    pub fn of(metric: &MetricDefinition) -> Option<Self> {
        let known = HEADLINES.iter().map(|(_, headline)| *headline);
        let mut known = known.filter(|headline| headline.metric() == metric);
        known.next().or_else(|| {
            let metric = MetricDefinition::named(metric.name)?;
            (metric.better != Better::Neither).then_some(Self::Figure(metric))
        })
    }

    /// The headline as a word, which [`Headline::named`] reads.
    pub fn word(self) -> &'static str {
        let known = HEADLINES.iter().find(|(_, headline)| *headline == self);
        known.map_or(self.metric().name, |(word, _)| word)
    }

    /// The headline of that word, or of the metric of that name: tables for other programs name
    /// metrics only.
    pub fn named(word: &str) -> Option<Self> {
        let known = HEADLINES.iter().find(|(known, _)| *known == word);
        known
            .map(|(_, headline)| *headline)
            .or_else(|| Self::of(MetricDefinition::named(word)?))
    }
}

impl Serialize for Headline {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

impl<'de> Deserialize<'de> for Headline {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = String::deserialize(deserializer)?;
        Self::named(&word).ok_or_else(|| {
            let known = HEADLINES.map(|(word, _)| word).join(", ");
            D::Error::custom(format!(
                "{word:?} is not a headline: use one of {known}, or a metric in which less or more \
                 is better"
            ))
        })
    }
}

impl MetricDefinition {
    /// The definition of that name.
    pub fn named(name: &str) -> Option<&'static Self> {
        METRICS.iter().find(|definition| definition.name == name)
    }
}

text_schema!(Headline, {
    "description": "The metric that a phase is compared in: `throughput`, `operation-rate`, `duration`, or the name of a metric that has a better direction.",
    "type": "string"
});

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CachePolicy, CacheVerdict, DeviceUse, PhaseSpec, Settled};

    fn write_phase() -> PhaseRecord {
        let spec = PhaseSpec {
            cache: CachePolicy::Keep,
            settle: true,
            ..PhaseSpec::new("write", "write", crate::Parameters::new())
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
    fn a_value_is_a_speed_only_where_a_direction_is_better() {
        assert_eq!(Better::Higher.speed(4.0), Some(4.0));
        assert_eq!(Better::Lower.speed(4.0), Some(0.25));
        assert_eq!(Better::Neither.speed(4.0), None);
    }

    #[test]
    fn every_headline_is_read_as_the_word_that_it_is_written_as() {
        let written = |headline: Headline| {
            let json = serde_json::to_string(&headline).expect("a word");
            (serde_json::from_str(&json).ok(), json)
        };
        for metric in METRICS {
            let headline = Headline::of(metric);
            assert_eq!(headline.is_none(), metric.better == Better::Neither);
            let Some(headline) = headline else { continue };
            assert_eq!(headline.metric(), metric);
            assert_eq!(written(headline).0, Some(headline), "{}", metric.name);
        }
        assert_eq!(written(Headline::OperationRate).1, "\"operation-rate\"");
        assert_eq!(written(Headline::Duration).1, "\"duration\"");
        for wrong in ["cpu_share", "fast", ""] {
            assert_eq!(Headline::named(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_headline_is_read_as_the_name_of_its_metric_too() {
        for metric in METRICS {
            assert_eq!(Headline::named(metric.name), Headline::of(metric));
        }
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
        // What Btrfs compressed was said to come from the page cache.
        let content = serde_json::json!({ "compressible_percent": 100 });
        phase.parameters.insert("content".into(), content);
        assert_eq!(phase.cache_verdict(), None);
        let content = serde_json::json!({ "compressible_percent": 50 });
        phase.parameters.insert("content".into(), content);
        assert_eq!(phase.cache_verdict(), Some(CacheVerdict::Cache));
    }

    #[test]
    fn in_virtual_time_there_is_no_rate_where_nothing_waited_for_the_disk() {
        let mut phase = write_phase();
        let mut insight = crate::DeviceInsight::default();
        insight.depth.busy_ns = 200;
        phase.insight = Some(insight);
        assert_eq!(value(&phase, "throughput"), Some(1000.0));
        // The disk worked for other processes, and the clock was read.
        phase.elapsed_ns = Some(256);
        assert!(phase.took_no_device_time());
        assert_eq!(value(&phase, "throughput"), None);
    }

    #[test]
    fn a_disk_that_moves_data_about_by_itself_writes_more_than_it_was_asked_to() {
        let mut phase = write_phase();
        assert_eq!(value(&phase, "media_write_amplification"), None);
        let mut insight = crate::DeviceInsight::default();
        insight.writes.all.bytes = 1_000;
        insight.background_writes.bytes = 500;
        phase.insight = Some(insight);
        assert_eq!(value(&phase, "media_write_amplification"), Some(1.5));
        assert_eq!(value(&phase, "seeks"), Some(0.0));
        assert_eq!(value(&phase, "seek_bytes_mean"), None);
        phase.kind = PhaseKind::Read;
        assert_eq!(value(&phase, "media_write_amplification"), None);
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
