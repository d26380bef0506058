//! dbench's summary, version 4: the load as a whole is a phase, and each of its operations.
//!
//! A megabyte is 1,000,000 bytes. Throughput ends with the last line of progress, the counts with
//! the execution, and neither time is printed: the operations have no rates. The tables of
//! `--per-client-results` repeat the sums client by client, and are left out.

use fslab_model::definitions::{LATENCY_MAX, THROUGHPUT};
use fslab_model::{Facts, Headline, Parameters, PhaseKind, PhaseRecord};

use crate::error::Fault;
use crate::reading::{Draft, Measured, Reading, number, plain_name, push_new};

const BYTES_PER_MB: f64 = 1e6;
const NS_PER_MS: f64 = 1e6;
/// The head of the table of operations.
const COLUMNS: [&str; 4] = ["Operation", "Count", "AvgLat", "MaxLat"];
/// What follows the throughput if an option was given.
const FLAGS: [(&str, &str); 2] = [("(sync open)", "sync_open"), ("(sync dirs)", "sync_dirs")];
const HINT: &str = "import the output of dbench 4 to its last line, 'Throughput ...'";

/// True for the first and the last line of an output.
pub(crate) fn is_mark(line: &str) -> bool {
    version(line).is_some() || is_summary(line)
}

/// `dbench version 4.00 - Copyright ...`.
fn version(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("dbench version ")?;
    Some(rest.split_once(' ')?.0)
}

/// `Throughput 326.895 MB/sec  2 clients  2 procs  max_latency=184.815 ms`.
fn is_summary(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    words.first() == Some(&"Throughput")
        && words.get(2) == Some(&"MB/sec")
        && words.contains(&"procs")
}

/// Reads every execution.
pub(crate) fn read(text: &str) -> Result<Reading, Fault> {
    let mut reading = Reading::default();
    let mut tools: Vec<String> = Vec::new();
    let mut open: Option<Execution> = None;
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if let Some(version) = version(line) {
            if let Some(before) = open {
                return Err(before.unfinished());
            }
            let tool = format!("dbench {version}");
            push_new(&mut tools, tool);
            open = Some(Execution::of(number));
        } else if is_summary(line) {
            let execution = open.take().unwrap_or_else(|| Execution::of(number));
            reading.trials.push(execution.finish(number, line)?);
        } else if let Some(execution) = &mut open {
            execution.line(number, line)?;
        }
    }
    if let Some(before) = open {
        return Err(before.unfinished());
    }
    if reading.trials.is_empty() {
        return Err(Fault::no_figure("no line is 'Throughput N MB/sec ... procs'").hint(HINT));
    }
    reading.tool = match tools.is_empty() {
        true => "dbench".to_owned(),
        false => tools.join(", "),
    };
    Ok(reading)
}

/// An execution that is being read.
struct Execution {
    line: usize,
    parameters: Parameters,
    facts: Facts,
    operations: Vec<Operation>,
    is_table: bool,
    is_of_clients: bool,
}

/// A row of the table.
struct Operation {
    name: String,
    count: u64,
    mean_ms: f64,
    max_ms: f64,
}

impl Execution {
    fn of(line: usize) -> Self {
        Self {
            line,
            parameters: Parameters::new(),
            facts: Facts::new(),
            operations: Vec::new(),
            is_table: false,
            is_of_clients: false,
        }
    }

    fn unfinished(&self) -> Fault {
        let place = format!("execution at line {}", self.line);
        Fault::truncated(place, "there is no line 'Throughput N MB/sec ...'").hint(HINT)
    }

    fn line(&mut self, at: usize, line: &str) -> Result<(), Fault> {
        let words: Vec<&str> = line.split_whitespace().collect();
        if let ["Running", "for", seconds, "seconds", ..] = &*words {
            let load = line.split('\'').nth(1).unwrap_or_default();
            self.facts.insert("dbench load".to_owned(), load.to_owned());
            if let Ok(seconds) = seconds.parse::<u32>() {
                self.parameters.insert("seconds".to_owned(), seconds.into());
            }
        } else if line == "Per client results:" {
            self.is_of_clients = true;
        } else if words == COLUMNS {
            self.is_table = !self.is_of_clients;
        } else if line.is_empty() {
            self.is_table = false;
        } else if self.is_table && !line.starts_with("---") {
            self.row(at, &words)?;
        }
        Ok(())
    }

    fn row(&mut self, at: usize, words: &[&str]) -> Result<(), Fault> {
        let place = format!("line {at}");
        let [name, count, mean, max] = words else {
            let fault = Fault::fields(place, words.len(), COLUMNS.len());
            return Err(fault.hint("a row has an operation, its count and two latencies in ms"));
        };
        let wrong = |text: &str| Fault::value(&*place, text, "a figure from 0").hint(HINT);
        let count: Option<u32> = count.parse().ok();
        let operation = Operation {
            name: format!("dbench-{}", plain_name(name)),
            count: count.ok_or_else(|| wrong(words[1]))?.into(),
            mean_ms: number(mean).ok_or_else(|| wrong(mean))?,
            max_ms: number(max).ok_or_else(|| wrong(max))?,
        };
        if self
            .operations
            .iter()
            .any(|known| known.name == operation.name)
        {
            return Err(Fault::value(place, *name, "an operation of one row").hint(HINT));
        }
        self.operations.push(operation);
        Ok(())
    }

    fn finish(mut self, at: usize, line: &str) -> Result<Measured, Fault> {
        let mut rest = line.to_owned();
        for (words, name) in FLAGS {
            if rest.contains(words) {
                rest = rest.replacen(words, "", 1);
                self.parameters.insert(name.to_owned(), true.into());
            }
        }
        let words: Vec<&str> = rest.split_whitespace().collect();
        let wrong = || {
            let wanted = "'Throughput N MB/sec  N clients  N procs  max_latency=N ms'";
            Fault::value(format!("line {at}"), line, wanted).hint(HINT)
        };
        let [
            "Throughput",
            rate,
            "MB/sec",
            clients,
            "clients",
            procs,
            "procs",
            max,
            "ms",
        ] = &*words
        else {
            return Err(wrong());
        };
        let rate = number(rate).ok_or_else(wrong)?;
        let max = max.strip_prefix("max_latency=").and_then(number);
        let max_ms = max.ok_or_else(wrong)?;
        for (name, value) in [("clients", clients), ("processes", procs)] {
            let value: u32 = value.parse().map_err(|_| wrong())?;
            self.parameters.insert(name.to_owned(), value.into());
        }
        let mut whole = self.draft("dbench", PhaseKind::Mixed, Headline::Throughput);
        whole
            .figures
            .insert(THROUGHPUT.name.to_owned(), rate * BYTES_PER_MB);
        put_max(&mut whole, max_ms);
        let mut phases = vec![whole];
        for operation in &self.operations {
            let kind = match &*operation.name {
                "dbench-readx" => PhaseKind::Read,
                "dbench-writex" => PhaseKind::Write,
                _ => PhaseKind::Metadata,
            };
            let mut record = self.draft(&operation.name, kind, Headline::Figure(&LATENCY_MAX));
            record.operations = Some(operation.count);
            put_max(&mut record, operation.max_ms);
            let note = format!("The mean latency is {} ms.", operation.mean_ms);
            record.notes.push(note);
            phases.push(record);
        }
        Ok(Measured {
            phases,
            facts: self.facts,
            ..Measured::default()
        })
    }

    fn draft(&self, name: &str, kind: PhaseKind, headline: Headline) -> PhaseRecord {
        Draft {
            name: name.to_owned(),
            workload: "dbench".to_owned(),
            kind,
            headline,
            parameters: self.parameters.clone(),
            swept: None,
        }
        .record()
    }
}

/// What is printed as 0 is below the last digit.
fn put_max(record: &mut PhaseRecord, max_ms: f64) {
    if max_ms > 0.0 {
        let name = LATENCY_MAX.name.to_owned();
        record.figures.insert(name, max_ms * NS_PER_MS);
    }
}
