//! Joining the rounds of a phase in one trial to one repeat.
//!
//! Rounds share a file system and are not independent; a trial's value is their mean. All rounds
//! stay in the data.

use std::collections::BTreeMap;

use fslab_model::definitions::{
    LATENCY_MAX, LATENCY_P50, LATENCY_P95, LATENCY_P99, LATENCY_P999, METRICS,
};
use fslab_model::{
    Metric, MetricDefinition, OperationLatency, PhaseOutcome, PhaseRecord, Round, Unit,
    phase_metrics,
};

/// Metrics of the joined latencies of all rounds: percentiles are never averaged.
const POOLED: [&MetricDefinition; 5] = [
    &LATENCY_P50,
    &LATENCY_P95,
    &LATENCY_P99,
    &LATENCY_P999,
    &LATENCY_MAX,
];

/// A phase in one round of a repeat.
#[derive(Clone, Debug)]
pub struct RepeatRound<'a> {
    /// The number of mount and iteration.
    pub round: Round,
    /// Its record; `None` for a sweep, where each point has one.
    pub record: Option<&'a PhaseRecord>,
    /// Its figures; empty unless done.
    pub metrics: Vec<Metric>,
}

impl RepeatRound<'_> {
    /// The metric's value; `None` if not measured.
    pub fn value(&self, metric: &MetricDefinition) -> Option<f64> {
        let found = self.metrics.iter().find(|found| found.definition == metric);
        found.map(|found| found.value)
    }
}

/// The rounds of `records`, which are of one phase in one trial; empty if it ran once.
pub(super) fn rounds<'a>(records: &[&'a PhaseRecord]) -> Vec<RepeatRound<'a>> {
    let round = |record: &&'a PhaseRecord| {
        Some(RepeatRound {
            round: record.round?,
            record: Some(record),
            metrics: phase_metrics(record),
        })
    };
    records.iter().filter_map(round).collect()
}

/// The figures of the repeat, joined over its rounds, and the record nearest to them. `None` if no
/// round completed.
pub(super) fn together<'a>(rounds: &[RepeatRound<'a>]) -> Option<(&'a PhaseRecord, Vec<Metric>)> {
    let done: Vec<&PhaseRecord> = rounds
        .iter()
        .filter_map(|round| round.record)
        .filter(|record| record.outcome == PhaseOutcome::Done)
        .collect();
    let headline = done.first()?.headline.metric();
    let mut metrics: Vec<Metric> = METRICS
        .iter()
        .filter(|definition| !POOLED.contains(definition))
        .filter_map(|definition| {
            let values: Vec<f64> = rounds
                .iter()
                .filter_map(|it| it.value(definition))
                .collect();
            let value = mean(definition, &values)?;
            Some(Metric { definition, value })
        })
        .collect();
    metrics.extend(pooled(&done));
    let mean = metrics.iter().find(|metric| metric.definition == headline);
    let away = |round: &&RepeatRound| {
        let value = round.value(headline).zip(mean);
        value.map_or(f64::INFINITY, |(value, mean)| (value - mean.value).abs())
    };
    let is_done = |round: &&RepeatRound| {
        let outcome = round.record.map(|record| &record.outcome);
        outcome == Some(&PhaseOutcome::Done)
    };
    let typical = rounds.iter().filter(is_done);
    let typical = typical.min_by(|a, b| away(a).total_cmp(&away(b)))?;
    Some((typical.record?, metrics))
}

/// The mean of a metric over rounds: the geometric one for rates and times, if it exists; the
/// arithmetic one for counts, bytes and shares. `None` without values.
pub(super) fn mean(definition: &MetricDefinition, values: &[f64]) -> Option<f64> {
    if values.is_empty() {
        return None;
    }
    let count = values.len() as f64;
    let of_speed = matches!(
        definition.unit,
        Unit::BytesPerSecond | Unit::OperationsPerSecond | Unit::Nanoseconds
    );
    if of_speed && values.iter().all(|value| *value > 0.0) {
        let logarithms: f64 = values.iter().map(|value| value.ln()).sum();
        return Some((logarithms / count).exp());
    }
    Some(values.iter().sum::<f64>() / count)
}

/// The metrics of the joined latencies of all records.
fn pooled(records: &[&PhaseRecord]) -> Vec<Metric> {
    let Some(first) = records.first() else {
        return Vec::new();
    };
    let mut together = PhaseRecord {
        latencies: pooled_latencies(records),
        ..(*first).clone()
    };
    together.threads.clear();
    if records.len() > 1 {
        // An imported percentile of one round does not hold for all rounds, but the largest latency
        // does.
        together.figures.retain(|name, _| !is_pooled(name));
        let of_rounds = records
            .iter()
            .filter_map(|it| it.figures.get(LATENCY_MAX.name));
        let largest = of_rounds.copied().max_by(f64::total_cmp);
        let largest = largest.map(|value| (LATENCY_MAX.name.to_owned(), value));
        together.figures.extend(largest);
    }
    let metrics = phase_metrics(&together).into_iter();
    metrics
        .filter(|metric| POOLED.contains(&metric.definition))
        .collect()
}

fn is_pooled(name: &str) -> bool {
    POOLED.iter().any(|definition| definition.name == name)
}

fn pooled_latencies(records: &[&PhaseRecord]) -> Vec<OperationLatency> {
    let mut merged: BTreeMap<&str, OperationLatency> = BTreeMap::new();
    for latency in records.iter().flat_map(|record| &record.latencies) {
        match merged.get_mut(latency.operation.as_str()) {
            Some(known) => known.histogram.merge(&latency.histogram),
            None => drop(merged.insert(&latency.operation, latency.clone())),
        }
    }
    merged.into_values().collect()
}

/// The values of one repeat by mount and iteration.
pub(super) fn nested(rounds: &[RepeatRound], metric: &MetricDefinition) -> Vec<Vec<f64>> {
    let mut mounts: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for round in rounds {
        if let Some(value) = round.value(metric) {
            mounts.entry(round.round.mount).or_default().push(value);
        }
    }
    mounts.into_values().collect()
}

#[cfg(test)]
mod tests {
    use fslab_model::definitions::{DEVICE_READS, ELAPSED, THROUGHPUT};
    use fslab_model::{Headline, LatencyHistogram, Parameters, PhaseKind, PhaseSpec};

    use super::*;

    fn record(iteration: u32, seconds: u64, latency_ns: u64) -> PhaseRecord {
        let spec = PhaseSpec::new("write", "write", Parameters::new());
        let (kind, headline) = (PhaseKind::Write, Headline::Throughput);
        let mut record = PhaseRecord::empty(&spec, kind, headline, PhaseOutcome::Done);
        record.round = Some(Round {
            mount: iteration / 2,
            iteration: iteration % 2,
        });
        record.bytes = Some(1 << 30);
        record.elapsed_ns = Some(seconds * 1_000_000_000);
        let mut histogram = LatencyHistogram::new();
        histogram.record_many(latency_ns, 10);
        record.latencies = vec![OperationLatency {
            operation: "write".into(),
            histogram,
        }];
        record
    }

    #[test]
    fn rounds_are_one_value_their_geometric_mean_and_their_latencies_one_histogram() {
        let records = [
            record(0, 1, 1_000),
            record(1, 4, 9_000),
            record(2, 2, 1_000),
        ];
        let rounds = rounds(&records.each_ref());
        let (typical, metrics) = together(&rounds).expect("all are done");
        let value = |wanted: &MetricDefinition| {
            let found = metrics.iter().find(|metric| metric.definition == wanted);
            found.expect("measured").value
        };
        // 1, 4 and 2 seconds: the third root of 8.
        assert!((value(&ELAPSED) - 2e9).abs() < 1.0);
        assert!((value(&THROUGHPUT) - (1_u64 << 29) as f64).abs() < 1.0);
        assert_eq!(typical.elapsed_ns, Some(2_000_000_000));
        // 20 operations of 1 µs and 10 of 9 µs.
        assert!((value(&LATENCY_P50) - 1_000.0).abs() < 2.0);
        assert!((value(&LATENCY_P95) - 9_000.0).abs() < 10.0);
        let by_mount = nested(&rounds, &ELAPSED);
        assert_eq!(by_mount, [vec![1e9, 4e9], vec![2e9]]);
    }

    #[test]
    fn percentiles_of_single_rounds_are_none_of_all_and_the_largest_latency_is() {
        let imported = |iteration, p99, largest| {
            let mut record = record(iteration, 1, 1);
            record.latencies.clear();
            record.figures.insert(LATENCY_P99.name.into(), p99);
            record.figures.insert(LATENCY_MAX.name.into(), largest);
            record
        };
        let records = [imported(0, 5.0, 9.0), imported(1, 7.0, 20.0)];
        let value = |records: &[&PhaseRecord], wanted: &MetricDefinition| {
            let rounds = rounds(records);
            let (_, metrics) = together(&rounds).expect("done");
            let found = metrics.iter().find(|metric| metric.definition == wanted);
            found.map(|metric| metric.value)
        };
        let both = records.each_ref();
        assert_eq!(value(&both, &LATENCY_P99), None);
        assert_eq!(value(&both, &LATENCY_MAX), Some(20.0));
        assert_eq!(value(&both[..1], &LATENCY_P99), Some(5.0));
    }

    #[test]
    fn what_failed_stays_a_round_without_figures() {
        let mut failed = record(1, 4, 1);
        failed.outcome = PhaseOutcome::Skipped { reason: "x".into() };
        let done = record(0, 1, 1);
        let records = [&done, &failed];
        let rounds = rounds(&records);
        assert_eq!(rounds.len(), 2);
        let (typical, _) = together(&rounds).expect("one is done");
        assert_eq!(typical, &done);
        assert_eq!(nested(&rounds, &ELAPSED), [vec![1e9]]);
        let none = &rounds[1..];
        assert!(together(none).is_none());
    }

    #[test]
    fn counts_have_an_arithmetic_mean_and_so_have_zeros() {
        assert_eq!(mean(&DEVICE_READS, &[1.0, 4.0]), Some(2.5));
        assert_eq!(mean(&ELAPSED, &[0.0, 4.0]), Some(2.0));
        assert_eq!(mean(&ELAPSED, &[]), None);
    }
}
