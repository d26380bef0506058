//! Filebench's summary, versions 1.4 and 1.5: the run as a whole is a phase, and each flow
//! operation of its breakdown.
//!
//! The summary counts only operations on data and names, not for example waits. A megabyte is
//! 1,048,576 bytes. Whole rates of the breakdown are rounded, so they come from the count and the
//! time of the run, where the output has it.

use fslab_model::definitions::{ELAPSED, LATENCY_MAX, OPERATION_RATE, OPERATIONS, THROUGHPUT};
use fslab_model::{Headline, Parameters, PhaseKind, PhaseRecord};

use crate::error::Fault;
use crate::reading::{Draft, Measured, Reading, number, plain_name, push_new, put};

const MIB: f64 = 1_048_576.0;
const NS_PER_MS: f64 = 1e6;
const HINT: &str = "import the output of Filebench to its line 'SECONDS: IO Summary: ...'";

/// True for lines that only Filebench prints.
pub(crate) fn is_mark(line: &str) -> bool {
    version(line).is_some() || after_time(line).is_some_and(|rest| rest.starts_with(SUMMARY))
}

const SUMMARY: &str = "IO Summary:";
const BREAKDOWN: &str = "Per-Operation Breakdown";

/// `Filebench Version 1.5-alpha3`.
fn version(line: &str) -> Option<&str> {
    let version = line.strip_prefix("Filebench Version ")?;
    version
        .starts_with(|c: char| c.is_ascii_digit())
        .then_some(version)
}

/// What follows the time of a line: `4.030: Running...`. Version 1.4 has the process before it.
fn after_time(line: &str) -> Option<&str> {
    match line.split_once(": ") {
        Some((process, rest)) if process.parse::<u32>().is_ok() => timed(rest),
        _ => timed(line),
    }
}

/// What follows a time with its decimals.
fn timed(line: &str) -> Option<&str> {
    let (time, rest) = line.split_once(": ")?;
    number(time).filter(|_| time.contains('.')).map(|_| rest)
}

/// Reads every run.
pub(crate) fn read(text: &str) -> Result<Reading, Fault> {
    let mut tools: Vec<String> = Vec::new();
    let mut reading = Reading::default();
    let mut open = Run::default();
    for (at, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if let Some(version) = version(line) {
            push_new(&mut tools, format!("filebench {version}"));
            open.ensure_finished()?;
            open = Run::default();
            continue;
        }
        let Some(said) = after_time(line) else {
            if open.breakdown.is_some() && !line.is_empty() {
                open.operation(at, line)?;
            }
            continue;
        };
        if said.starts_with(BREAKDOWN) {
            open.ensure_finished()?;
            open.breakdown = Some(at);
        } else if let Some(summary) = said.strip_prefix(SUMMARY) {
            reading.trials.push(open.finish(at, summary)?);
            open = Run::default();
        } else if let Some(count) = said.strip_prefix("Starting ") {
            let mut words = count.split(' ');
            let count = words.next().and_then(|count| count.parse::<u32>().ok());
            if let (Some(count), Some(name), Some("instances")) =
                (count, words.next(), words.next())
            {
                let name = format!("processes_{}", plain_name(name));
                open.parameters.insert(name, count.into());
            }
        } else if said.contains("NO VALID RESULTS") {
            let text = format!("Filebench says: {said}");
            return Err(Fault::new(format!("line {at}"), text)
                .hint("import the output of a run that was completed"));
        }
    }
    open.ensure_finished()?;
    if reading.trials.is_empty() {
        let reason = "no line is 'SECONDS: IO Summary: ...'";
        return Err(Fault::no_figure(reason).hint(HINT));
    }
    reading.tool = match tools.is_empty() {
        true => "filebench".to_owned(),
        false => tools.join(", "),
    };
    Ok(reading)
}

/// A run that is being read.
#[derive(Default)]
struct Run {
    parameters: Parameters,
    /// The line of its breakdown.
    breakdown: Option<usize>,
    operations: Vec<PhaseRecord>,
}

/// The figures of a line.
struct Line<'l> {
    at: usize,
    line: &'l str,
}

impl Line<'_> {
    fn wrong(&self, wanted: &str) -> Fault {
        Fault::value(format!("line {}", self.at), self.line, wanted).hint(HINT)
    }

    /// The number before `unit`.
    fn figure(&self, words: &[&str], unit: &str) -> Result<f64, Fault> {
        let found = words.iter().find_map(|word| word.strip_suffix(unit));
        let wanted = format!("a line with a number before '{unit}'");
        found.and_then(number).ok_or_else(|| self.wrong(&wanted))
    }
}

impl Run {
    fn ensure_finished(&self) -> Result<(), Fault> {
        match self.breakdown {
            None => Ok(()),
            Some(at) => {
                let place = format!("breakdown at line {at}");
                Err(
                    Fault::truncated(place, "there is no line 'IO Summary: ...' after it")
                        .hint(HINT),
                )
            }
        }
    }

    /// `readfile3  4697ops  1565ops/s  12.9mb/s  0.015ms/op [0.003ms - 2.582ms]`; version 1.4 has
    /// the processor's time of an operation before whole milliseconds in brackets.
    fn operation(&mut self, at: usize, text: &str) -> Result<(), Fault> {
        let line = Line { at, line: text };
        let (figures, rest) = text.split_once('[').unwrap_or((text, ""));
        let words: Vec<&str> = figures.split_whitespace().collect();
        let name = words.first().copied().unwrap_or_default();
        let words = words.get(1..).unwrap_or_default();
        let wanted = "a flow operation with its count, rates and latency";
        let count = words.first().and_then(|word| word.strip_suffix("ops"));
        let count: u32 = count
            .and_then(|count| count.parse().ok())
            .ok_or_else(|| line.wrong(wanted))?;
        let mean_ms = line.figure(words, "ms/op")?;
        line.figure(words, "ops/s")?;
        let bytes = line.figure(words, "mb/s")? * MIB;
        let name = format!("filebench-{}", plain_name(name));
        if self.operations.iter().any(|known| known.name == name) {
            return Err(line.wrong("a flow operation of one line"));
        }
        let kind = match bytes > 0.0 {
            true => PhaseKind::Mixed,
            false => PhaseKind::Metadata,
        };
        let mut record = draft(&name, kind);
        put(&mut record, &OPERATIONS, f64::from(count));
        put(&mut record, &THROUGHPUT, bytes);
        record
            .notes
            .push(format!("The mean latency is {mean_ms} ms."));
        if !rest.is_empty() {
            let (range, _) = rest.split_once(']').ok_or_else(|| line.wrong(wanted))?;
            let (_, max) = range.split_once(" - ").ok_or_else(|| line.wrong(wanted))?;
            let max = max.trim().strip_suffix("ms").and_then(number);
            let max = max.ok_or_else(|| line.wrong(wanted))?;
            if count > 0 {
                put(&mut record, &LATENCY_MAX, max * NS_PER_MS);
            }
        }
        self.operations.push(record);
        Ok(())
    }

    /// ` 37582 ops 12525.429 ops/s 1565/1566 rd/wr  25.1mb/s 0.157ms/op`; version 1.4 has commas,
    /// brackets, and `5.1ms latency`.
    fn finish(&mut self, at: usize, summary: &str) -> Result<Measured, Fault> {
        let line = Line { at, line: summary };
        let plain = summary.replace([',', '(', ')'], " ");
        let words: Vec<&str> = plain.split_whitespace().collect();
        let before = |unit: &str| {
            let place = words.iter().position(|word| *word == unit)?;
            words.get(place.checked_sub(1)?).copied()
        };
        let wanted = "'N ops, N ops/s, N/N r/w, Nmb/s, ...'";
        let count = before("ops").and_then(|count| count.parse::<u32>().ok());
        let count = count.ok_or_else(|| line.wrong(wanted))?;
        let rate = before("ops/s").and_then(number);
        let rate = rate.ok_or_else(|| line.wrong(wanted))?;
        let shares = before("rd/wr").or(before("r/w"));
        let shares = shares.ok_or_else(|| line.wrong(wanted))?;
        let mean = before("latency").and_then(|mean| mean.strip_suffix("ms"));
        let mean = match mean.and_then(number) {
            Some(mean) => mean,
            None => line.figure(&words, "ms/op")?,
        };
        let mut whole = draft("filebench", PhaseKind::Mixed);
        put(&mut whole, &OPERATIONS, f64::from(count));
        put(&mut whole, &OPERATION_RATE, rate);
        put(&mut whole, &THROUGHPUT, line.figure(&words, "mb/s")? * MIB);
        // More exact than `Run took N seconds`, which is whole seconds.
        let seconds = f64::from(count) / rate;
        if seconds.is_finite() {
            put(&mut whole, &ELAPSED, (seconds * 1e9).round());
            for phase in &mut self.operations {
                let count = phase.figures.get(OPERATIONS.name).copied();
                put(phase, &OPERATION_RATE, count.unwrap_or_default() / seconds);
            }
        }
        whole.notes.push(format!(
            "The mean latency is {mean} ms; reads and writes a second are {shares}."
        ));
        let mut phases = vec![whole];
        phases.append(&mut self.operations);
        for phase in &mut phases {
            phase.parameters.clone_from(&self.parameters);
        }
        self.breakdown = None;
        Ok(Measured {
            phases,
            ..Measured::default()
        })
    }
}

fn draft(name: &str, kind: PhaseKind) -> PhaseRecord {
    Draft {
        name: name.to_owned(),
        workload: "filebench".to_owned(),
        kind,
        headline: Headline::OperationRate,
        parameters: Parameters::new(),
        swept: None,
    }
    .record()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lines_of_filebench_are_marks() {
        for line in [
            "Filebench Version 1.5-alpha3",
            "4.030: IO Summary: 1 ops 1.0 ops/s",
            "18263: 4.030: IO Summary:  1 ops, 1.0 ops/s",
        ] {
            assert!(is_mark(line), "{line}");
        }
        for other in [
            "IO Summary: 1 ops",
            "4.030: Running...",
            "Filebench Version x",
        ] {
            assert!(!is_mark(other), "{other}");
        }
    }
}
