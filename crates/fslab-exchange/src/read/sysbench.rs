//! sysbench's test `fileio`, version 1.0: each execution is a phase, named by its mode.
//!
//! Rates and throughputs are as printed: sysbench counts neither operations nor bytes. Its events,
//! and therefore its latencies, include calls of fsync(2). Latencies have two decimals of a
//! millisecond, so that most of a cached file are 0.00: those are not known.

use fslab_model::definitions::{
    LATENCY_MAX, LATENCY_P50, LATENCY_P95, LATENCY_P99, OPERATION_RATE, THROUGHPUT,
};
use fslab_model::{Headline, MetricDefinition, Parameters, PhaseKind, PhaseRecord};

use super::sysbench_options::{file_size, parameter};
use crate::error::Fault;
use crate::reading::{Draft, Measured, Reading, number, push_new};

/// A mode as sysbench prints it, its name as an option, and its kind.
pub(crate) struct Mode {
    title: &'static str,
    pub(crate) name: &'static str,
    kind: PhaseKind,
    headline: Headline,
}

/// The modes of `fileio`.
pub(crate) const MODES: [Mode; 6] = [
    Mode::of(
        "sequential write (creation)",
        "seqwr",
        PhaseKind::Write,
        Headline::Throughput,
    ),
    Mode::of(
        "sequential rewrite",
        "seqrewr",
        PhaseKind::Write,
        Headline::Throughput,
    ),
    Mode::of(
        "sequential read",
        "seqrd",
        PhaseKind::Read,
        Headline::Throughput,
    ),
    Mode::of(
        "random read",
        "rndrd",
        PhaseKind::Read,
        Headline::OperationRate,
    ),
    Mode::of(
        "random write",
        "rndwr",
        PhaseKind::Write,
        Headline::OperationRate,
    ),
    Mode::of(
        "random r/w",
        "rndrw",
        PhaseKind::Mixed,
        Headline::OperationRate,
    ),
];

impl Mode {
    const fn of(
        title: &'static str,
        name: &'static str,
        kind: PhaseKind,
        headline: Headline,
    ) -> Self {
        Self {
            title,
            name,
            kind,
            headline,
        }
    }
}

/// The version that is read: 0.4 and 1.1 print other lines.
const VERSION: &str = "1.0.";
/// What to import.
const HINT: &str = "import the output of `sysbench fileio ... run`, from its first line";
const MIB: f64 = 1_048_576.0;
const NS_PER_MS: f64 = 1e6;
/// Percentiles that are metrics; sysbench prints one.
const PERCENTILES: [(&str, &MetricDefinition); 3] = [
    ("50th", &LATENCY_P50),
    ("95th", &LATENCY_P95),
    ("99th", &LATENCY_P99),
];

/// True for the first line of an output.
pub(crate) fn is_mark(line: &str) -> bool {
    version(line).is_some()
}

/// `sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)`, in old versions `sysbench 0.4.12:  ...`.
fn version(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("sysbench ")?;
    let (version, rest) = rest.split_at(rest.find([' ', ':'])?);
    let is_version = version.starts_with(|c: char| c.is_ascii_digit()) && version.contains('.');
    let is_head = rest.starts_with(" (using ") || rest.trim_start_matches([':', ' ']) == OLD_TITLE;
    (is_version && is_head).then_some(version)
}

/// The title of versions up to 0.5.
const OLD_TITLE: &str = "multi-threaded system evaluation benchmark";

/// Reads every execution.
pub(crate) fn read(text: &str) -> Result<Reading, Fault> {
    let mut executions: Vec<Execution> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if let Some(version) = version(line) {
            executions.push(Execution {
                line: number,
                version,
                lines: Vec::new(),
            });
        } else if let Some(execution) = executions.last_mut() {
            execution.lines.push((number, line));
        }
    }
    let mut reading = Reading::default();
    let mut tools: Vec<String> = Vec::new();
    for execution in &executions {
        let tool = format!("sysbench {}", execution.version);
        push_new(&mut tools, tool);
        if let Some(phase) = execution.phase()? {
            reading.trials.push(Measured {
                phases: vec![phase],
                ..Measured::default()
            });
        }
    }
    if reading.trials.is_empty() {
        let reason = match executions.is_empty() {
            true => "no line is 'sysbench VERSION (using ...)'",
            false => "sysbench only prepared or removed its files",
        };
        return Err(Fault::no_figure(reason).hint(HINT));
    }
    reading.tool = tools.join(", ");
    Ok(reading)
}

/// What sysbench printed in one execution.
struct Execution<'t> {
    line: usize,
    version: &'t str,
    lines: Vec<(usize, &'t str)>,
}

impl Execution<'_> {
    fn place(&self) -> String {
        format!("execution at line {}", self.line)
    }

    /// The phase; `None` if files were only prepared or removed.
    fn phase(&self) -> Result<Option<PhaseRecord>, Fault> {
        let find = |begin: &str| self.lines.iter().find(|(_, line)| line.starts_with(begin));
        if !self.version.starts_with(VERSION) {
            let wanted = "version 1.0, the only one that is read";
            return Err(Fault::value(self.place(), self.version, wanted)
                .hint("run sysbench 1.0, for example 1.0.20"));
        }
        if let Some((number, line)) = find("FATAL: ") {
            let text = format!("sysbench failed: {line}");
            return Err(Fault::new(format!("line {number}"), text)
                .hint("import the output of an execution that succeeded"));
        }
        let Some((number, line)) = find("Doing ") else {
            if find("Creating files for the test")
                .or(find("Removing test files"))
                .is_some()
            {
                return Ok(None);
            }
            let text = "it is not of the test fileio: no line is 'Doing ... test'";
            return Err(Fault::new(self.place(), text).hint(
                "fslab reads `sysbench fileio`; other tests of sysbench use no file system",
            ));
        };
        let title = line.trim_start_matches("Doing ").trim_end_matches(" test");
        let mode = MODES.iter().find(|mode| mode.title == title);
        let mode = mode.ok_or_else(|| {
            Fault::value(format!("line {number}"), title, "a mode of sysbench fileio").hint(HINT)
        })?;
        self.measured(mode).map(Some)
    }

    fn measured(&self, mode: &Mode) -> Result<PhaseRecord, Fault> {
        let mut parameters = Parameters::from_iter([("mode".to_owned(), mode.name.into())]);
        let lines = self.lines.iter().map(|(_, line)| line);
        let settings = lines
            .flat_map(|line| [parameter(line), file_size(line)])
            .flatten();
        parameters.extend(settings.map(|(name, value)| (name.to_owned(), value)));
        let mut record = Draft {
            name: mode.name.to_owned(),
            workload: "sysbench".to_owned(),
            kind: mode.kind,
            headline: mode.headline,
            parameters,
            swept: None,
        }
        .record();
        let figure = |label: &str| self.figure(label);
        let rate = figure("reads/s:")? + figure("writes/s:")?;
        let bytes = (figure("read, MiB/s:")? + figure("written, MiB/s:")?) * MIB;
        let elapsed_ns = (figure("total time:")? * 1e9).round() as u64;
        record.elapsed_ns = (elapsed_ns > 0).then_some(elapsed_ns);
        let fsyncs = figure("fsyncs/s:")?;
        let mut set = |metric: &MetricDefinition, value: f64| {
            // What is printed as 0 is less than sysbench's last digit.
            if value > 0.0 {
                record.figures.insert(metric.name.to_owned(), value);
            }
        };
        set(&THROUGHPUT, bytes);
        set(&OPERATION_RATE, rate);
        set(&LATENCY_MAX, figure("max:")? * NS_PER_MS);
        for (label, metric) in PERCENTILES {
            let label = format!("{label} percentile:");
            if self.value(&label).is_some() {
                set(metric, figure(&label)? * NS_PER_MS);
            }
        }
        let mean_ms = figure("sum:")? / figure("total number of events:")?;
        if mean_ms.is_finite() {
            let note = format!("The mean latency is {mean_ms:.4} ms (its sum by the events).");
            record.notes.push(note);
        }
        if fsyncs > 0.0 {
            record.notes.push(format!(
                "Latencies include those of {fsyncs} fsync(2) a second, which are not in the \
                 operation rate."
            ));
        }
        Ok(record)
    }

    /// The line with a label, and its value.
    fn value(&self, label: &str) -> Option<(usize, &str)> {
        let mut lines = self.lines.iter();
        lines.find_map(|(number, line)| Some((*number, line.strip_prefix(label)?.trim())))
    }

    fn figure(&self, label: &str) -> Result<f64, Fault> {
        let Some((line, value)) = self.value(label) else {
            let missing = format!("there is no line '{label}'");
            return Err(Fault::truncated(self.place(), missing));
        };
        let plain = match label {
            "total time:" => value.strip_suffix('s').unwrap_or_default(),
            _ => value,
        };
        let place = format!("line {line}, {}", label.trim_end_matches(':'));
        let wrong = || Fault::value(place, value, "a figure from 0").hint(HINT);
        number(plain).ok_or_else(wrong)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_first_line_of_an_output_is_a_mark() {
        assert_eq!(
            version("sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)"),
            Some("1.0.20")
        );
        assert_eq!(
            version("sysbench 0.4.12:  multi-threaded system evaluation benchmark"),
            Some("0.4.12")
        );
        for other in [
            "sysbench fileio run",
            "sysbench 1.0.20",
            "sysbench 1 (using",
        ] {
            assert_eq!(version(other), None, "{other}");
        }
    }
}
