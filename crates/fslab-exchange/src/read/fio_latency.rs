//! fio's latencies: bins (JSON+) as a histogram, else percentiles and the maximum.

use fslab_model::definitions::{LATENCY_MAX, LATENCY_P50, LATENCY_P95, LATENCY_P99, LATENCY_P999};
use fslab_model::{LatencyHistogram, MetricDefinition, OperationLatency, PhaseRecord, ValueList};
use serde_json::Value;

use super::json_documents::{Fields, as_count};
use crate::error::Fault;
use crate::latency_bins;

/// The name of the list of fio's percentiles in a phase.
pub(crate) const PERCENTILES: &str = "percentiles";
/// Percentiles that are metrics.
const METRICS: [(f64, &MetricDefinition); 4] = [
    (50.0, &LATENCY_P50),
    (95.0, &LATENCY_P95),
    (99.0, &LATENCY_P99),
    (99.9, &LATENCY_P999),
];

/// Latencies of one kind of operation of one job.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Latency {
    /// What fio timed: `clat` from submission to completion, `lat` from before submission.
    pub(crate) span: &'static str,
    pub(crate) histogram: Option<LatencyHistogram>,
    pub(crate) percentiles: Vec<(f64, f64)>,
    pub(crate) max_ns: Option<f64>,
}

/// fio's spans, with the nanoseconds of their unit; those of all engines first. Versions below 3
/// use microseconds.
const SPANS: [(&str, &str, f64); 4] = [
    ("clat_ns", "clat", 1.0),
    ("lat_ns", "lat", 1.0),
    ("clat", "clat", 1e3),
    ("lat", "lat", 1e3),
];

impl Latency {
    /// The first span of `direction` with percentiles (`lat_percentiles` moves them to another),
    /// else the first with any data; `None` if fio measured none.
    pub(crate) fn of(direction: &Fields) -> Result<Option<Self>, Fault> {
        let mut found: Option<Self> = None;
        for (name, span, unit) in SPANS {
            let Some(fields) = direction.object(name)? else {
                continue;
            };
            let latency = Self::read(&fields, span, unit)?;
            let spread = |it: &Self| it.histogram.is_some() || !it.percentiles.is_empty();
            let has_spread = latency.as_ref().is_some_and(spread);
            if has_spread || found.is_none() {
                found = latency.or(found);
            }
            if has_spread {
                break;
            }
        }
        Ok(found)
    }

    fn read(fields: &Fields, span: &'static str, unit: f64) -> Result<Option<Self>, Fault> {
        let (max, mean) = (fields.number("max")?, fields.number("mean")?);
        let count = fields.count("N")?;
        if count == Some(0) || max.unwrap_or(0.0) == 0.0 && mean.unwrap_or(0.0) == 0.0 {
            return Ok(None);
        }
        let ends = (fields.number("min")?, max);
        let histogram = match fields.object("bins")? {
            Some(bins) => histogram(&bins, unit, ends)?,
            None => None,
        };
        let mut percentiles = Vec::new();
        if let Some(object) = fields.object("percentile")? {
            for (name, value) in object.iter() {
                let percent: Option<f64> = name.parse().ok();
                let wrong = || {
                    let wanted = "the latency of a percentile from 0 to 100";
                    Fault::value(object.path(name), value.to_string(), wanted)
                };
                let is_percent = |percent: &f64| (0.0..=100.0).contains(percent);
                let percent = percent.filter(is_percent).ok_or_else(wrong)?;
                let ns = object.number(name)?.unwrap_or_default() * unit;
                // Versions below 2 fill their lists with "0.00": 0.
                if percent > 0.0 {
                    percentiles.push((percent, ns));
                }
            }
        }
        Ok(Some(Self {
            span,
            histogram,
            percentiles,
            max_ns: max.map(|max| max * unit),
        }))
    }

    /// Adds the latencies of another process. Percentiles cannot be merged.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.histogram = match (self.histogram.take(), &other.histogram) {
            (Some(mut ours), Some(theirs)) => {
                ours.merge(theirs);
                Some(ours)
            }
            _ => None,
        };
        self.percentiles.clear();
        let both = self.max_ns.zip(other.max_ns);
        self.max_ns = both.map(|(ours, theirs)| ours.max(theirs));
    }

    /// Stores the latencies in a phase.
    pub(crate) fn put(&self, record: &mut PhaseRecord, operation: &str) {
        if self.span == "lat" {
            record.notes.push(
                "fio gives no percentiles of its completion latency: its latencies begin before \
                 submission."
                    .to_owned(),
            );
        }
        if let Some(histogram) = &self.histogram {
            record.latencies.push(OperationLatency {
                operation: operation.to_owned(),
                histogram: histogram.clone(),
            });
            return;
        }
        let mut set = |metric: &MetricDefinition, value: f64| {
            record.figures.insert(metric.name.to_owned(), value);
        };
        for (percent, metric) in METRICS {
            let found = self
                .percentiles
                .iter()
                .find(|(known, _)| (known - percent).abs() < 1e-6);
            if let Some((_, ns)) = found {
                set(metric, *ns);
            }
        }
        if let Some(max) = self.max_ns {
            set(&LATENCY_MAX, max);
        }
        if !self.percentiles.is_empty() {
            record.lists.push(ValueList {
                name: PERCENTILES.to_owned(),
                x: "percentile".to_owned(),
                y: "latency (ns)".to_owned(),
                points: self.percentiles.clone(),
            });
        }
    }
}

/// `{"10688": 7}`: the middle of a bin and its count. fio 2 names bins by their numbers, and has
/// keys in capitals then.
fn histogram(
    bins: &Fields,
    unit: f64,
    (min, max): (Option<f64>, Option<f64>),
) -> Result<Option<LatencyHistogram>, Fault> {
    let is_number = bins.get("FIO_IO_U_PLAT_BITS").is_some();
    let ends = [min, max].map(|end| end.map(|end| (latency_bins::index(end as u64), end)));
    let mut histogram = LatencyHistogram::new();
    for (name, value) in bins.iter() {
        if name.starts_with("FIO_IO_U_PLAT") {
            ensure_known(bins, name, value)?;
            continue;
        }
        let wrong = |wanted| Fault::value(bins.path(name), value.to_string(), wanted);
        let count = as_count(value).ok_or_else(|| wrong("a count"))?;
        let key: u64 = name.parse().map_err(|_| wrong("the count of a latency"))?;
        let middle = match is_number {
            true => latency_bins::middle(key),
            false => Some(key),
        };
        let middle = middle.ok_or_else(|| wrong("the count of a bin that there is"))?;
        put_bin(&mut histogram, (middle, count), unit, &ends);
    }
    Ok((histogram.count() > 0).then_some(histogram))
}

fn ensure_known(bins: &Fields, name: &str, value: &Value) -> Result<(), Fault> {
    let known = [("FIO_IO_U_PLAT_BITS", 6), ("FIO_IO_U_PLAT_VAL", 64)];
    let expected = known.iter().find(|(known, _)| *known == name);
    match expected {
        Some((_, expected)) if value.as_u64() != Some(*expected) => Err(Fault::value(
            bins.path(name),
            value.to_string(),
            expected.to_string(),
        )),
        _ => Ok(()),
    }
}

/// Counts a bin. In the first and the last bin one latency is known exactly.
fn put_bin(
    histogram: &mut LatencyHistogram,
    (middle, count): (u64, u64),
    unit: f64,
    ends: &[Option<(u64, f64)>; 2],
) {
    let mut left = count;
    for (bin, exact) in ends.iter().flatten() {
        if *bin == latency_bins::index(middle) && left > 0 {
            histogram.record((exact * unit) as u64);
            left -= 1;
        }
    }
    if left > 0 {
        histogram.record_many((middle as f64 * unit) as u64, left);
    }
}
