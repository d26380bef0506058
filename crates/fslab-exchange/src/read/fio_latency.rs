//! fio's latencies: bins (JSON+) as a histogram, else percentiles and the maximum.
//!
//! A bin has the value of its middle, and so have percentiles. The largest latency is exact, and no
//! latency is above it. fio's last bin has no upper end: what is in it is a lower bound.

use fslab_model::definitions::{LATENCY_MAX, LATENCY_P50, LATENCY_P95, LATENCY_P99, LATENCY_P999};
use fslab_model::{LatencyHistogram, MetricDefinition, OperationLatency, PhaseRecord, ValueList};
use serde_json::{Map, Value};

use super::json_documents::{Fields, as_count};
use super::packed_json::BINS;
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

/// True for the line of a bin in JSON: `"10688" : 7,`.
pub(crate) fn is_bin(line: &str) -> bool {
    let Some(name) = line.strip_prefix('"') else {
        return false;
    };
    let rest = name.trim_start_matches(|c: char| c.is_ascii_digit());
    let rest = (rest.len() < name.len()).then_some(rest);
    let rest = rest.and_then(|rest| rest.strip_prefix('"'));
    rest.is_some_and(|rest| rest.trim_start().starts_with(':'))
}

/// Latencies of one kind of operation of one job.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Latency {
    /// What fio timed: `clat` from submission to completion, `lat` from before submission.
    pub(crate) span: &'static str,
    pub(crate) histogram: Option<LatencyHistogram>,
    pub(crate) percentiles: Vec<(f64, f64)>,
    pub(crate) max_ns: Option<f64>,
    /// The latencies in the last bin that can be longer than its value.
    beyond: u64,
    /// The value of the last bin.
    end_ns: f64,
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
        let scale = Scale {
            unit,
            ends: [fields.number("min")?, max],
        };
        let counted = match fields.bins()? {
            Some(bins) => Counted::of(&fields.path(BINS), &bins, &scale)?,
            None => Counted::default(),
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
                let value = object.number(name)?.unwrap_or_default();
                let ns = max.map_or(value, |max| value.min(max)) * unit;
                // Versions below 2 fill their lists with "0.00": 0.
                if percent > 0.0 {
                    percentiles.push((percent, ns));
                }
            }
        }
        Ok(Some(Self {
            span,
            histogram: (counted.histogram.count() > 0).then_some(counted.histogram),
            percentiles,
            max_ns: max.map(|max| max * unit),
            beyond: counted.beyond,
            end_ns: scale.end_ns(),
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
        self.beyond += other.beyond;
        let both = self.max_ns.zip(other.max_ns);
        self.max_ns = both.map(|(ours, theirs)| ours.max(theirs));
    }

    /// A note on percentiles at the end of fio's histogram.
    fn lower_bounds(&self) -> Option<String> {
        let end_s = self.end_ns / 1e9;
        if let Some(histogram) = self.histogram.as_ref().filter(|_| self.beyond > 0) {
            let (count, beyond) = (histogram.count(), self.beyond);
            // One of the latencies in the bin is the largest.
            let below = 100.0 * (count - beyond - 1) as f64 / count as f64;
            return Some(format!(
                "fio's histogram ends at {end_s:.1} s: percentiles above {below:.1} % are lower \
                 bounds, except the largest latency."
            ));
        }
        // The terse output rounds to a microsecond.
        let end_ns = self.end_ns - 1e3;
        let is_beyond = self.max_ns.is_none_or(|max| max > self.end_ns);
        let at_end = self
            .percentiles
            .iter()
            .filter(|(_, ns)| *ns >= end_ns && is_beyond);
        let names: Vec<String> = at_end.map(|(percent, _)| format!("p{percent}")).collect();
        (!names.is_empty()).then(|| {
            format!(
                "fio's histogram ends at {end_s:.1} s: {} are lower bounds.",
                names.join(", ")
            )
        })
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
        record.notes.extend(self.lower_bounds());
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

/// The unit of fio's values in nanoseconds, and the smallest and largest one.
struct Scale {
    unit: f64,
    ends: [Option<f64>; 2],
}

impl Scale {
    /// The last bin that fio has.
    fn last(&self) -> u64 {
        match self.unit > 1.0 {
            true => latency_bins::LAST_OF_MICROSECONDS,
            false => latency_bins::LAST_OF_NANOSECONDS,
        }
    }

    fn end_ns(&self) -> f64 {
        latency_bins::middle(self.last()).map_or(f64::INFINITY, |end| end as f64 * self.unit)
    }

    /// The nanoseconds of a value, which is not beyond the ends.
    fn ns(&self, value: u64) -> u64 {
        let [min, max] = self.ends;
        let value = max.map_or(value as f64, |max| max.min(value as f64));
        (min.map_or(value, |min| min.max(value)) * self.unit) as u64
    }
}

/// Bins as a histogram.
#[derive(Default)]
struct Counted {
    histogram: LatencyHistogram,
    beyond: u64,
}

impl Counted {
    /// `{"10688": 7}`: the middle of a bin and its count. fio 2 names bins by their numbers, and
    /// has keys in capitals then.
    fn of(path: &str, bins: &Map<String, Value>, scale: &Scale) -> Result<Self, Fault> {
        let is_number = bins.contains_key("FIO_IO_U_PLAT_BITS");
        let mut counts: Vec<(u64, u64)> = Vec::new();
        for (name, value) in bins {
            let place = || format!("{path}, {name}");
            if name.starts_with("FIO_IO_U_PLAT") {
                ensure_known(place, name, value)?;
                continue;
            }
            let wrong = |wanted| Fault::value(place(), value.to_string(), wanted);
            let count = as_count(value).ok_or_else(|| wrong("a count"))?;
            let key: u64 = name.parse().map_err(|_| wrong("the count of a latency"))?;
            let middle = match is_number {
                true => latency_bins::middle(key),
                false => Some(key),
            };
            let middle = middle.ok_or_else(|| wrong("the count of a bin that there is"))?;
            if count > 0 {
                counts.push((middle, count));
            }
        }
        Ok(Self::from_counts(&counts, scale))
    }

    /// Counts the bins. In the first and the last one latency is known exactly.
    fn from_counts(counts: &[(u64, u64)], scale: &Scale) -> Self {
        let [min, max] = scale
            .ends
            .map(|end| end.map(|end| latency_bins::index(end as u64)));
        let highest = counts
            .iter()
            .map(|(middle, _)| latency_bins::index(*middle))
            .max();
        // An export of fslab has bins beyond the last one of fio.
        let last = scale.last();
        let is_open = highest == Some(last) && max.is_none_or(|max| max > last);
        let ends = [min, if is_open { Some(last) } else { max }];
        let mut counted = Self::default();
        for (middle, count) in counts {
            let bin = latency_bins::index(*middle);
            let mut left = *count;
            for (end, exact) in ends.iter().zip(&scale.ends) {
                if let Some(exact) = exact.filter(|_| *end == Some(bin) && left > 0) {
                    counted.histogram.record((exact * scale.unit) as u64);
                    left -= 1;
                }
            }
            counted.histogram.record_many(scale.ns(*middle), left);
            if is_open && bin == last {
                counted.beyond = left;
            }
        }
        counted
    }
}

fn ensure_known(place: impl Fn() -> String, name: &str, value: &Value) -> Result<(), Fault> {
    let known = [("FIO_IO_U_PLAT_BITS", 6), ("FIO_IO_U_PLAT_VAL", 64)];
    let expected = known.iter().find(|(known, _)| *known == name);
    match expected {
        Some((_, expected)) if value.as_u64() != Some(*expected) => Err(Fault::value(
            place(),
            value.to_string(),
            expected.to_string(),
        )),
        _ => Ok(()),
    }
}
