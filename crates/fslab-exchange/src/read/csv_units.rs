//! Common names of metrics and units, converted to fslab's.

use fslab_model::definitions::{
    CPU_SHARE, ELAPSED, LATENCY_MAX, LATENCY_P50, LATENCY_P95, LATENCY_P99, LATENCY_P999,
    OPERATION_RATE, THROUGHPUT,
};
use fslab_model::{METRICS, MetricDefinition, Unit, nearest_name};

/// A unit with its factor to the base unit.
type Factor = (&'static str, f64);

const BYTES_PER_SECOND: [Factor; 13] = [
    ("B/s", 1.0),
    ("bytes/s", 1.0),
    ("kB/s", 1e3),
    ("KB/s", 1e3),
    ("KiB/s", 1024.0),
    ("MB/s", 1e6),
    ("MiB/s", 1_048_576.0),
    ("GB/s", 1e9),
    ("GiB/s", 1_073_741_824.0),
    ("kbit/s", 125.0),
    ("Mbit/s", 125e3),
    ("Gbit/s", 125e6),
    ("bit/s", 0.125),
];
const OPERATIONS_PER_SECOND: [Factor; 11] = [
    ("op/s", 1.0),
    ("ops/s", 1.0),
    ("ops/sec", 1.0),
    ("iops", 1.0),
    ("IOPS", 1.0),
    ("1/s", 1.0),
    ("/s", 1.0),
    ("tps", 1.0),
    ("Hz", 1.0),
    ("kop/s", 1e3),
    ("Mop/s", 1e6),
];
const NANOSECONDS: [Factor; 8] = [
    ("ns", 1.0),
    ("us", 1e3),
    ("\u{b5}s", 1e3),
    ("\u{3bc}s", 1e3),
    ("ms", 1e6),
    ("s", 1e9),
    ("sec", 1e9),
    ("min", 60e9),
];
const BYTES: [Factor; 9] = [
    ("B", 1.0),
    ("bytes", 1.0),
    ("kB", 1e3),
    ("KB", 1e3),
    ("KiB", 1024.0),
    ("MB", 1e6),
    ("MiB", 1_048_576.0),
    ("GB", 1e9),
    ("GiB", 1_073_741_824.0),
];
const COUNTS: [Factor; 1] = [("1", 1.0)];
const RATIOS: [Factor; 3] = [("1", 1.0), ("%", 0.01), ("x", 1.0)];

/// Other names of metrics. Those without a unit in the name require one.
const ALIASES: [(&str, &MetricDefinition); 21] = [
    ("bandwidth", &THROUGHPUT),
    ("bw", &THROUGHPUT),
    ("speed", &THROUGHPUT),
    ("iops", &OPERATION_RATE),
    ("ops", &OPERATION_RATE),
    ("tps", &OPERATION_RATE),
    ("transactions", &OPERATION_RATE),
    ("elapsed", &ELAPSED),
    ("time", &ELAPSED),
    ("duration", &ELAPSED),
    ("runtime", &ELAPSED),
    ("latency_p50", &LATENCY_P50),
    ("latency_median", &LATENCY_P50),
    ("latency_p95", &LATENCY_P95),
    ("latency_p99", &LATENCY_P99),
    ("latency_p999", &LATENCY_P999),
    ("latency_p99.9", &LATENCY_P999),
    ("latency_max", &LATENCY_MAX),
    ("cpu", &CPU_SHARE),
    ("cpu_usage", &CPU_SHARE),
    ("%cpu", &CPU_SHARE),
];

/// Why a metric is not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unknown {
    /// Unknown metric; the most similar name, if any.
    Metric(Option<&'static str>),
    /// The unit is missing or belongs to another metric.
    Unit {
        /// The metric's units.
        known: String,
    },
}

/// The metric of that name, and the factor from `unit` to its unit.
pub(crate) fn resolve(name: &str, unit: &str) -> Result<(&'static MetricDefinition, f64), Unknown> {
    if let Some(definition) = MetricDefinition::named(name) {
        // The name includes the unit.
        return match unit {
            "" => Ok((definition, 1.0)),
            unit => Ok((definition, factor(definition, unit)?)),
        };
    }
    let lower = name.to_ascii_lowercase().replace(['-', ' '], "_");
    let alias = ALIASES.iter().find(|(alias, _)| *alias == lower);
    let Some((_, alias)) = alias else {
        let names = METRICS.iter().map(|definition| definition.name);
        return Err(Unknown::Metric(nearest_name(&lower, names)));
    };
    // The constant is a copy; the table's definition is `'static`.
    let definition = MetricDefinition::named(alias.name).ok_or(Unknown::Metric(None))?;
    Ok((definition, factor(definition, unit)?))
}

fn factor(definition: &MetricDefinition, unit: &str) -> Result<f64, Unknown> {
    let table: &[Factor] = match definition.unit {
        Unit::BytesPerSecond => &BYTES_PER_SECOND,
        Unit::OperationsPerSecond => &OPERATIONS_PER_SECOND,
        Unit::Nanoseconds => &NANOSECONDS,
        Unit::Bytes => &BYTES,
        Unit::Count => &COUNTS,
        Unit::Ratio => &RATIOS,
    };
    let found = table.iter().find(|(name, _)| *name == unit);
    found.map(|(_, factor)| *factor).ok_or_else(|| {
        let names: Vec<&str> = table.iter().map(|(name, _)| *name).collect();
        Unknown::Unit {
            known: names.join(", "),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_turned_into_the_metrics_own() {
        let value = |name, unit| resolve(name, unit).map(|(metric, factor)| (metric.name, factor));
        assert_eq!(value("throughput", ""), Ok(("throughput", 1.0)));
        assert_eq!(value("bw", "MiB/s"), Ok(("throughput", 1_048_576.0)));
        assert_eq!(value("Latency-P99", "us"), Ok(("latency_ns_p99", 1e3)));
        assert_eq!(value("cpu_share", "%"), Ok(("cpu_share", 0.01)));
        assert_eq!(value("time", "s"), Ok(("elapsed_ns", 1e9)));
    }

    #[test]
    fn what_is_not_certain_is_refused() {
        assert_eq!(
            resolve("troughput", ""),
            Err(Unknown::Metric(Some("throughput")))
        );
        assert!(matches!(resolve("bw", ""), Err(Unknown::Unit { .. })));
        assert!(matches!(resolve("bw", "op/s"), Err(Unknown::Unit { .. })));
        assert!(matches!(
            resolve("throughput", "Mb/s"),
            Err(Unknown::Unit { .. })
        ));
    }

    #[test]
    fn every_metric_is_read_in_the_unit_in_which_it_is_exported() {
        for metric in METRICS {
            let read = resolve(metric.name, metric.unit.symbol());
            assert_eq!(read, Ok((metric, 1.0)), "{}", metric.name);
        }
    }
}
