//! DiskSpd's XML (`-Rxml`), version 2: each time span is a phase, or a phase for each direction.
//!
//! Counts are the sums over the threads and targets; DiskSpd prints no rate in XML. Latencies are
//! percentiles with three decimals of a millisecond, of which what is 0.000 is not known.

use fslab_model::definitions::{LATENCY_MAX, LATENCY_P50, LATENCY_P95, LATENCY_P99, LATENCY_P999};
use fslab_model::{
    Headline, MetricDefinition, Parameters, PhaseKind, PhaseRecord, TimeSeries, ValueList,
};
use serde_json::Value;

use super::fio_latency::PERCENTILES;
use super::xml::{Element, documents};
use crate::error::Fault;
use crate::reading::{Draft, Measured, Reading, number, push_new, put};

const ROOT: &str = "Results";
const HINT: &str = "import what `diskspd -Rxml` prints, from <Results> to </Results>";
const NS_PER_MS: f64 = 1e6;
/// Operations of at least this size have the headline throughput.
const THROUGHPUT_BYTES_MIN: u64 = 48 << 10;
/// The directions, with the names of their elements.
const DIRECTIONS: [Direction; 2] = [
    Direction {
        name: "read",
        kind: PhaseKind::Read,
        bytes: "ReadBytes",
        count: "ReadCount",
        latency: "ReadMilliseconds",
        mean: "AverageReadMilliseconds",
        bucket: "Read",
    },
    Direction {
        name: "write",
        kind: PhaseKind::Write,
        bytes: "WriteBytes",
        count: "WriteCount",
        latency: "WriteMilliseconds",
        mean: "AverageWriteMilliseconds",
        bucket: "Write",
    },
];
/// Percentiles that are metrics.
const METRICS: [(f64, &MetricDefinition); 5] = [
    (50.0, &LATENCY_P50),
    (95.0, &LATENCY_P95),
    (99.0, &LATENCY_P99),
    (99.9, &LATENCY_P999),
    (100.0, &LATENCY_MAX),
];
/// Settings of a target that are counts, with their parameters.
const COUNTS: [(&str, &str); 7] = [
    ("BlockSize", "block_size"),
    ("FileSize", "create_size"),
    ("Random", "random_alignment"),
    ("StrideSize", "stride"),
    ("RequestCount", "requests"),
    ("WriteRatio", "write_percent"),
    ("ThreadsPerFile", "threads_per_file"),
];
/// Settings of a target that are flags.
const FLAGS: [(&str, &str); 4] = [
    ("DisableOSCache", "no_cache"),
    ("WriteThrough", "write_through"),
    ("MemoryMappedIo", "mapped"),
    ("InterlockedSequential", "interlocked"),
];

struct Direction {
    name: &'static str,
    kind: PhaseKind,
    bytes: &'static str,
    count: &'static str,
    latency: &'static str,
    mean: &'static str,
    bucket: &'static str,
}

/// True for a line that only DiskSpd writes.
pub(crate) fn is_mark(line: &str) -> bool {
    line.contains("<TestTimeSeconds>")
}

/// Reads every document.
pub(crate) fn read(text: &str) -> Result<Reading, Fault> {
    let mut reading = Reading::default();
    let mut tools: Vec<String> = Vec::new();
    documents(text, ROOT, HINT, |document| {
        let system = document.child("System");
        let tool = system.as_ref().and_then(|system| system.child("Tool"));
        let version = tool.as_ref().and_then(|tool| tool.text("Version"));
        let tool = format!("diskspd {}", version.unwrap_or_default());
        push_new(&mut tools, tool.trim_end().to_owned());
        let run_time = system.as_ref().and_then(|system| system.text("RunTime"));
        let profile = document.child("Profile");
        let profile = profile.ok_or_else(|| Fault::missing(&*document.place, "Profile"))?;
        let spans = profile.child("TimeSpans");
        let mut planned = spans.iter().flat_map(|spans| spans.children("TimeSpan"));
        for (number, span) in (1..).zip(document.children("TimeSpan")) {
            let planned = planned.next().ok_or_else(|| {
                let text = "the profile has no time span of it";
                Fault::new(&*span.place, text).hint(HINT)
            })?;
            reading.trials.push(Measured {
                phases: Span::of(&planned, &span)?.phases()?,
                stamp: run_time.map(|time| format!("{time}, {number}")),
                ..Measured::default()
            });
        }
        Ok(())
    })?;
    if reading.trials.is_empty() {
        let reason = "it has no element <TimeSpan> with <TestTimeSeconds> in <Results>";
        return Err(Fault::no_figure(reason).hint(HINT));
    }
    reading.tool = tools.join(", ");
    Ok(reading)
}

/// A time span: what was planned, and what was measured.
struct Span<'a, 'input> {
    measured: &'a Element<'a, 'input>,
    parameters: Parameters,
    elapsed_ns: u64,
    /// Bytes and operations of each direction.
    moved: [(u64, u64); 2],
}

impl<'a, 'input> Span<'a, 'input> {
    fn of(planned: &Element, measured: &'a Element<'a, 'input>) -> Result<Self, Fault> {
        if let Some(error) = measured.text("Error") {
            let text = format!("DiskSpd says: {error}");
            return Err(Fault::new(&*measured.place, text)
                .hint("import the output of an execution that was completed"));
        }
        let need = |value: Option<f64>, name: &str| {
            value.ok_or_else(|| Fault::missing(&*measured.place, name).hint(HINT))
        };
        let seconds = need(measured.number("TestTimeSeconds")?, "TestTimeSeconds")?;
        let mut parameters = settings(planned)?;
        if let Some(threads) = measured.count("ThreadCount")? {
            parameters.insert("threads".to_owned(), threads.into());
        }
        let mut moved = [(0_u64, 0_u64); 2];
        let mut sizes: Vec<u64> = Vec::new();
        for thread in measured.children("Thread") {
            for target in thread.children("Target") {
                for ((bytes, count), direction) in moved.iter_mut().zip(&DIRECTIONS) {
                    let figure = |name: &str| -> Result<u64, Fault> {
                        let count = target.count(name)?;
                        count.ok_or_else(|| Fault::missing(&*target.place, name).hint(HINT))
                    };
                    *bytes = bytes.saturating_add(figure(direction.bytes)?);
                    *count = count.saturating_add(figure(direction.count)?);
                }
                if let Some(size) = target.count("FileSize")? {
                    push_new(&mut sizes, size);
                }
            }
        }
        if let [size] = &*sizes {
            parameters.insert("file_size".to_owned(), (*size).into());
        }
        Ok(Self {
            measured,
            parameters,
            elapsed_ns: (seconds * 1e9).round().min(1e18) as u64,
            moved,
        })
    }

    fn phases(&self) -> Result<Vec<PhaseRecord>, Fault> {
        let sides: Vec<usize> = (0..2).filter(|side| self.moved[*side].1 > 0).collect();
        if sides.is_empty() {
            let text = "it has no element <Target> with operations";
            return Err(Fault::new(&*self.measured.place, text).hint(HINT));
        }
        let mut phases = Vec::new();
        for side in &sides {
            phases.push(self.phase(*side, sides.len() > 1)?);
        }
        Ok(phases)
    }

    fn phase(&self, side: usize, is_mixed: bool) -> Result<PhaseRecord, Fault> {
        let direction = &DIRECTIONS[side];
        let (bytes, operations) = self.moved[side];
        let is_random = self.parameters.contains_key("random_alignment");
        let order = if is_random { "random-" } else { "" };
        let mut parameters = self.parameters.clone();
        parameters.insert("direction".to_owned(), direction.name.into());
        let mut record = Draft {
            name: match is_mixed {
                true => format!("{order}mix-{}", direction.name),
                false => format!("{order}{}", direction.name),
            },
            workload: "diskspd".to_owned(),
            kind: direction.kind,
            headline: match bytes / operations >= THROUGHPUT_BYTES_MIN {
                true => Headline::Throughput,
                false => Headline::OperationRate,
            },
            parameters,
            swept: None,
        }
        .record();
        record.elapsed_ns = Some(self.elapsed_ns).filter(|ns| *ns > 0);
        record.bytes = Some(bytes).filter(|bytes| i64::try_from(*bytes).is_ok());
        record.operations = Some(operations).filter(|count| i64::try_from(*count).is_ok());
        if let Some(latency) = self.measured.child("Latency") {
            latencies(&latency, direction, &mut record)?;
        }
        record.series = self.series(direction)?;
        let average = self.measured.child("CpuUtilization");
        let average = average.and_then(|cpu| cpu.child("Average"));
        if let Some(percent) = average.and_then(|average| average.text("UsagePercent")) {
            record.notes.push(format!(
                "All processors of the machine together were {percent} % busy."
            ));
        }
        Ok(record)
    }

    /// The operations of each interval, with `-D`.
    fn series(&self, direction: &Direction) -> Result<Option<TimeSeries>, Fault> {
        let Some(iops) = self.measured.child("Iops") else {
            return Ok(None);
        };
        let mut interval_ms = 0.0;
        let mut operations: Vec<u64> = Vec::new();
        for bucket in iops.children("Bucket") {
            let figure = |name: &str| -> Result<f64, Fault> {
                let text = bucket.attribute(name).unwrap_or_default();
                let wrong = || Fault::value(bucket.path(name), text, "a number from 0");
                number(text).ok_or_else(wrong)
            };
            if operations.is_empty() {
                interval_ms = figure("SampleMillisecond")?;
            }
            operations.push((figure(direction.bucket)? * interval_ms / 1e3).round() as u64);
        }
        let interval_ns = (interval_ms * NS_PER_MS).min(1e15) as u64;
        Ok((interval_ns > 0).then_some(TimeSeries {
            interval_ns,
            operations,
            bytes: Vec::new(),
        }))
    }
}

/// The settings of the targets; where they differ, all values.
fn settings(span: &Element) -> Result<Parameters, Fault> {
    let mut parameters = Parameters::new();
    for (element, name) in [("Duration", "seconds"), ("Warmup", "warm_up_seconds")] {
        if let Some(value) = span.count(element)? {
            parameters.insert(name.to_owned(), value.into());
        }
    }
    let targets: Vec<Element> = span
        .child("Targets")
        .iter()
        .flat_map(|targets| targets.children("Target"))
        .collect();
    parameters.insert("targets".to_owned(), targets.len().into());
    let mut keep = |name: &str, values: Vec<Option<Value>>| {
        let mut distinct: Vec<Option<Value>> = Vec::new();
        values
            .into_iter()
            .for_each(|value| push_new(&mut distinct, value));
        let value = match &*distinct {
            [] | [None] => return,
            [Some(value)] => value.clone(),
            several => {
                let known = several.iter().flatten().map(Value::to_string);
                known.collect::<Vec<_>>().join(", ").into()
            }
        };
        parameters.insert(name.to_owned(), value);
    };
    for (element, name) in COUNTS {
        let values = targets.iter().map(|target| target.count(element));
        let values: Vec<Option<u64>> = values.collect::<Result<_, _>>()?;
        keep(
            name,
            values
                .into_iter()
                .map(|value| value.map(Value::from))
                .collect(),
        );
    }
    for (element, name) in FLAGS {
        let is_set = |target: &Element| target.text(element) == Some("true");
        let values = targets
            .iter()
            .map(|it| is_set(it).then_some(Value::Bool(true)));
        keep(name, values.collect());
    }
    Ok(parameters)
}

fn latencies(
    latency: &Element,
    direction: &Direction,
    record: &mut PhaseRecord,
) -> Result<(), Fault> {
    let mut points: Vec<(f64, f64)> = Vec::new();
    for bucket in latency.children("Bucket") {
        let percent = bucket.number("Percentile")?;
        let ms = bucket.number(direction.latency)?;
        if let Some((percent, ms)) = percent.zip(ms)
            && percent > 0.0
            && ms > 0.0
        {
            points.push((percent, (ms * NS_PER_MS).round()));
        }
    }
    for (percent, metric) in METRICS {
        let found = points
            .iter()
            .find(|(known, _)| (known - percent).abs() < 1e-9);
        if let Some((_, ns)) = found {
            put(record, metric, *ns);
        }
    }
    if !points.is_empty() {
        record.lists.push(ValueList {
            name: PERCENTILES.to_owned(),
            x: "percentile".to_owned(),
            y: "latency (ns)".to_owned(),
            points,
        });
    }
    if let Some(mean) = latency.number(direction.mean)? {
        record.notes.push(format!("The mean latency is {mean} ms."));
    }
    Ok(())
}
