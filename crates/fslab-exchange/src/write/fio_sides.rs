//! A phase in fio's terms: the work in each direction, and its latencies in fio's bins.

use std::collections::BTreeMap;

use fslab_model::definitions::{LATENCY_MAX, LATENCY_P50, LATENCY_P95, LATENCY_P99, LATENCY_P999};
use fslab_model::{LatencyHistogram, MetricDefinition, PhaseKind, PhaseRecord};
use serde_json::{Map, Value, json};

use crate::latency_bins;
use crate::read::fio_latency;

/// fio's directions.
pub(super) const DIRECTIONS: [&str; 3] = ["read", "write", "trim"];
/// fio's default percentiles.
const PERCENTILES: [f64; 17] = [
    1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95,
    99.99,
];

/// One direction of a phase.
pub(super) struct Side {
    pub(super) direction: &'static str,
    bytes: u64,
    operations: u64,
    runtime_ns: u64,
    latency: Map<String, Value>,
}

/// The directions of a phase; or why fio's form cannot hold it.
pub(super) fn sides(phase: &PhaseRecord) -> Result<Vec<Side>, String> {
    let without = |what: &str| format!("it has no {what}, which fio's format needs");
    let runtime_ns = phase.elapsed_ns.ok_or_else(|| without("duration"))?;
    let operations = phase
        .operations
        .ok_or_else(|| without("number of operations"))?;
    let direction = phase.parameters.get("direction").and_then(Value::as_str);
    let given = direction.filter(|_| phase.workload == "fio");
    let given = given.and_then(|given| DIRECTIONS.into_iter().find(|known| *known == given));
    let only = |direction| {
        vec![Side {
            direction,
            bytes: phase.bytes.unwrap_or_default(),
            operations,
            runtime_ns,
            latency: latency_of(phase),
        }]
    };
    match (given, phase.kind) {
        (Some(direction), _) => Ok(only(direction)),
        // fio's own engines for metadata operations count them as reads.
        (None, PhaseKind::Read | PhaseKind::Metadata) => Ok(only("read")),
        (None, PhaseKind::Write) => Ok(only("write")),
        (None, PhaseKind::Mixed) => mixed(phase, operations, runtime_ns),
    }
}

/// A phase that reads and writes: its latencies give the operations of each direction, and their
/// bytes if all operations have one size.
fn mixed(phase: &PhaseRecord, operations: u64, runtime_ns: u64) -> Result<Vec<Side>, String> {
    let mut merged: BTreeMap<&'static str, LatencyHistogram> = BTreeMap::new();
    for latency in &phase.latencies {
        let known = DIRECTIONS
            .into_iter()
            .find(|direction| *direction == latency.operation);
        if let Some(direction) = known {
            merged
                .entry(direction)
                .or_default()
                .merge(&latency.histogram);
        }
    }
    let counted: u64 = merged.values().map(LatencyHistogram::count).sum();
    let bytes = phase.bytes.unwrap_or_default();
    if counted == 0 || !bytes.is_multiple_of(counted) || counted != operations && bytes > 0 {
        return Err("its shares of reading and writing were not recorded".to_owned());
    }
    let side = |(direction, histogram): (&'static str, LatencyHistogram)| Side {
        direction,
        bytes: bytes / counted * histogram.count(),
        operations: histogram.count(),
        runtime_ns,
        latency: of_histogram(&histogram),
    };
    Ok(merged.into_iter().map(side).collect())
}

impl Side {
    /// The JSON object of this direction.
    pub(super) fn value(&self) -> Value {
        let per_second = |count: u64| match self.runtime_ns {
            0 => 0.0,
            ns => count as f64 * 1e9 / ns as f64,
        };
        let bandwidth = per_second(self.bytes) as u64;
        json!({
            "io_bytes": self.bytes,
            "io_kbytes": self.bytes >> 10,
            "bw_bytes": bandwidth,
            "bw": bandwidth >> 10,
            "iops": per_second(self.operations),
            // Rounded up, as fio does: a time of zero has no rate.
            "runtime": self.runtime_ns.div_ceil(1_000_000),
            "total_ios": self.operations,
            "short_ios": 0,
            "drop_ios": 0,
            "slat_ns": empty(),
            "clat_ns": self.latency,
            "lat_ns": empty(),
        })
    }

    /// The JSON object of an idle direction.
    pub(super) fn idle(direction: &'static str) -> Self {
        Self {
            direction,
            bytes: 0,
            operations: 0,
            runtime_ns: 0,
            latency: empty(),
        }
    }

    pub(super) fn runtime_ns(&self) -> u64 {
        self.runtime_ns
    }
}

/// The object of no latencies.
fn empty() -> Map<String, Value> {
    object(json!({"min": 0, "max": 0, "mean": 0.0, "stddev": 0.0, "N": 0}))
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}

fn latency_of(phase: &PhaseRecord) -> Map<String, Value> {
    match phase.latency() {
        Some(histogram) => of_histogram(&histogram),
        None => of_figures(phase).unwrap_or_else(empty),
    }
}

/// The latencies without a histogram: percentiles and the maximum.
fn of_figures(phase: &PhaseRecord) -> Option<Map<String, Value>> {
    let figure = |metric: &MetricDefinition| phase.figures.get(metric.name).copied();
    let max = figure(&LATENCY_MAX)?;
    let list = phase
        .lists
        .iter()
        .find(|list| list.name == fio_latency::PERCENTILES);
    let points = match list {
        Some(list) => list.points.clone(),
        None => [
            (50.0, &LATENCY_P50),
            (95.0, &LATENCY_P95),
            (99.0, &LATENCY_P99),
            (99.9, &LATENCY_P999),
        ]
        .into_iter()
        .filter_map(|(percent, metric)| Some((percent, figure(metric)?)))
        .collect(),
    };
    let mut latency = object(json!({ "max": max as u64 }));
    let percentile = |(percent, ns): &(f64, f64)| (format!("{percent:.6}"), json!(*ns as u64));
    let percentiles: Map<String, Value> = points.iter().map(percentile).collect();
    if !percentiles.is_empty() {
        latency.insert("percentile".into(), percentiles.into());
    }
    Some(latency)
}

fn of_histogram(histogram: &LatencyHistogram) -> Map<String, Value> {
    let mut bins: BTreeMap<u64, u64> = BTreeMap::new();
    for (ns, count) in histogram.values() {
        *bins.entry(latency_bins::index(ns)).or_default() += count;
    }
    let middle = |index: u64| latency_bins::middle(index).unwrap_or(u64::MAX);
    let count = histogram.count();
    let mean = histogram.mean_ns().unwrap_or_default();
    let squares = histogram.values().map(|(ns, count)| {
        let distance = ns as f64 - mean;
        count as f64 * distance * distance
    });
    let deviation = (squares.sum::<f64>() / count.max(1) as f64).sqrt();
    let percentile = |percent: f64| {
        let wanted = percent / 100.0 * count as f64;
        let mut sum = 0;
        let reached = bins.iter().find(|(_, count)| {
            sum += **count;
            sum as f64 >= wanted
        });
        let ns = reached
            .or(bins.iter().next_back())
            .map_or(0, |(index, _)| middle(*index));
        (format!("{percent:.6}"), json!(ns))
    };
    let percentiles: Map<String, Value> = PERCENTILES.into_iter().map(percentile).collect();
    let named = bins
        .iter()
        .map(|(index, count)| (middle(*index).to_string(), json!(count)));
    let named: Map<String, Value> = named.collect();
    object(json!({
        "min": histogram.min_ns().unwrap_or_default(),
        "max": histogram.max_ns().unwrap_or_default(),
        "mean": mean,
        "stddev": deviation,
        "N": count,
        "percentile": percentiles,
        "bins": named,
    }))
}
