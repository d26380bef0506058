//! elbencho's results: its JSON and CSV, else its text (see [`elbencho_table`]).
//!
//! Figures are of the entire phase, which elbencho calls LAST DONE; FIRST DONE, when the first
//! thread was done, is the phase's `first_done_ns`. A phase of data on many files is two phases:
//! `write` for its bytes and operations, `write-files` for its files.

use std::collections::BTreeMap;

use fslab_model::definitions::{
    BYTES, ELAPSED, LATENCY_MAX, OPERATION_RATE, OPERATIONS, THROUGHPUT,
};
use fslab_model::{Headline, Parameters, PhaseKind, PhaseRecord};
use serde_json::Value;

use super::elbencho_table;
use super::json_documents::{Fields, documents};
use crate::error::Fault;
use crate::reading::{Draft, Measured, Reading, number, push_new, put};

pub(super) const HINT: &str =
    "import the file that elbencho writes with --jsonfile, --csvfile or --resfile";
pub(super) const MIB: f64 = 1_048_576.0;
const NS_PER_MS: f64 = 1e6;
const NS_PER_US: f64 = 1e3;
/// Operations of at least this size have the headline throughput.
const THROUGHPUT_BYTES_MIN: u64 = 48 << 10;
/// The first columns of the CSV, in every version from 1.6 on.
const CSV_HEAD: &str = "ISO date,label,path type,paths,hosts,threads,";
/// Settings in CSV and JSON, with their parameters.
const SETTINGS: [(&str, &str, &str); 13] = [
    ("path type", "path_type", "path_type"),
    ("paths", "paths", "paths"),
    ("hosts", "hosts", "hosts"),
    ("threads", "threads", "threads"),
    ("dirs", "dirs", "directories"),
    ("files", "files", "files"),
    ("file size", "file_size", "file_size"),
    ("block size", "block_size", "block_size"),
    ("direct IO", "direct_io", "direct"),
    ("random", "random_offsets", "random"),
    ("random aligned", "random_aligned", "random_aligned"),
    ("IO depth", "io_depth", "io_depth"),
    ("truncate", "truncate_files", "truncate"),
];
/// The phases on a file system, with what they access. Phases of buckets and objects are none.
pub(crate) const PHASES: [(&str, &str, PhaseKind); 7] = [
    ("MKDIRS", "mkdirs", PhaseKind::Metadata),
    ("WRITE", "write", PhaseKind::Write),
    ("READ", "read", PhaseKind::Read),
    ("RMFILES", "rmfiles", PhaseKind::Metadata),
    ("RMDIRS", "rmdirs", PhaseKind::Metadata),
    ("STAT", "stat", PhaseKind::Metadata),
    ("STATDIRS", "statdirs", PhaseKind::Metadata),
];

/// Preparations between the phases, which are no measurements.
const PREPARATIONS: [&str; 2] = ["SYNC", "DROPCACHE"];
/// Below this, whole MiB a second are too coarse to be a figure; below the next, they get a note.
const WHOLE_MIB_MIN: f64 = 10.0;
const WHOLE_MIB_NOTED: f64 = 100.0;

/// True for a line that only elbencho writes.
pub(crate) fn is_mark(line: &str) -> bool {
    line.starts_with(CSV_HEAD) || elbencho_table::is_head(line) || line.contains("\"phase_type\":")
}

/// Reads every phase.
pub(crate) fn read(text: &str) -> Result<Reading, Fault> {
    let mut results = Results::default();
    let is_json = text.lines().any(|line| line.contains("\"phase_type\":"));
    if is_json {
        for document in documents(text, HINT)? {
            let place = format!("document at line {}", document.line);
            results.take(of_json(&Fields::of(place, &document.value)?)?)?;
        }
    } else if text.lines().any(|line| line.trim().starts_with(CSV_HEAD)) {
        csv(text, &mut results)?;
    } else {
        let note = "the text of elbencho has whole MiB, rounded down, and of the options only \
                    those on its command line; its JSON (--jsonfile) has all";
        results.notes.push(note.to_owned());
        for phase in elbencho_table::phases(text)? {
            results.take(phase)?;
        }
    }
    if results.trials.is_empty() {
        return Err(Fault::no_figure("it has the results of no phase").hint(HINT));
    }
    Ok(Reading {
        tool: match results.tools.is_empty() {
            true => "elbencho".to_owned(),
            false => results.tools.join(", "),
        },
        trials: results.trials,
        notes: results.notes,
        ..Reading::default()
    })
}

/// One phase, as any of the forms has it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Phase {
    pub(super) place: String,
    pub(super) operation: String,
    pub(super) version: String,
    /// When it began, as printed.
    pub(super) stamp: Option<String>,
    pub(super) parameters: Parameters,
    pub(super) first_ms: f64,
    pub(super) last_ms: f64,
    /// Of writes or of the only direction, then of the reads of a mixed phase.
    pub(super) sides: [Side; 2],
}

/// The figures of a direction; what is not there was not measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Side {
    pub(super) entries_per_s: f64,
    pub(super) entries: f64,
    pub(super) operations_per_s: f64,
    pub(super) bytes_per_s: f64,
    /// True if it is rounded down to MiB, as in the text and the CSV.
    pub(super) is_whole_mib: bool,
    pub(super) bytes: f64,
    /// Smallest, mean and largest latency of files or directories, and of reads and writes.
    pub(super) entry_us: Option<[f64; 3]>,
    pub(super) operation_us: Option<[f64; 3]>,
}

#[derive(Default)]
struct Results {
    tools: Vec<String>,
    trials: Vec<Measured>,
    notes: Vec<String>,
}

impl Results {
    fn take(&mut self, phase: Phase) -> Result<(), Fault> {
        if !phase.version.is_empty() {
            push_new(&mut self.tools, format!("elbencho {}", phase.version));
        }
        if PREPARATIONS.contains(&&*phase.operation) {
            let note = format!("the phases {} are left out", phase.operation);
            push_new(&mut self.notes, note);
            return Ok(());
        }
        let phases = phase.records()?;
        self.trials.push(Measured {
            phases,
            stamp: phase.stamp,
            ..Measured::default()
        });
        Ok(())
    }
}

impl Phase {
    fn records(&self) -> Result<Vec<PhaseRecord>, Fault> {
        let mixed = self.operation.starts_with("RWMIX");
        let known = PHASES.iter().find(|(known, ..)| *known == self.operation);
        let (name, kind) = match (known, mixed) {
            (Some((_, name, kind)), _) => ((*name).to_owned(), *kind),
            (None, true) => (self.operation.to_ascii_lowercase(), PhaseKind::Mixed),
            (None, false) => {
                let wanted = "a phase on files: fslab compares no object stores";
                return Err(Fault::value(&*self.place, &*self.operation, wanted).hint(HINT));
            }
        };
        let mut records = Vec::new();
        let [side, reads] = &self.sides;
        match mixed {
            true => {
                self.side(
                    side,
                    &format!("{name}-write"),
                    PhaseKind::Write,
                    &mut records,
                );
                self.side(
                    reads,
                    &format!("{name}-read"),
                    PhaseKind::Read,
                    &mut records,
                );
            }
            false => self.side(side, &name, kind, &mut records),
        }
        if records.is_empty() {
            let mut record = self.draft(&name, kind, Headline::Duration);
            self.times(&mut record);
            records.push(record);
        }
        Ok(records)
    }

    fn side(&self, side: &Side, name: &str, kind: PhaseKind, records: &mut Vec<PhaseRecord>) {
        let has_data = side.operations_per_s > 0.0 || side.bytes_per_s > 0.0;
        if has_data {
            let block = self.parameters.get("block_size").and_then(Value::as_u64);
            let headline = match block.is_none_or(|block| block >= THROUGHPUT_BYTES_MIN) {
                true => Headline::Throughput,
                false => Headline::OperationRate,
            };
            let mut record = self.draft(name, kind, headline);
            self.times(&mut record);
            put(&mut record, &OPERATION_RATE, side.operations_per_s);
            put(&mut record, &BYTES, side.bytes);
            if side.is_whole_mib {
                whole_mib(&mut record, side.bytes_per_s);
            } else {
                put(&mut record, &THROUGHPUT, side.bytes_per_s);
            }
            latency(&mut record, side.operation_us);
            records.push(record);
        }
        if side.entries_per_s > 0.0 {
            let name = match has_data {
                true => format!("{name}-files"),
                false => name.to_owned(),
            };
            let mut record = self.draft(&name, kind, Headline::OperationRate);
            self.times(&mut record);
            put(&mut record, &OPERATION_RATE, side.entries_per_s);
            put(&mut record, &OPERATIONS, side.entries);
            latency(&mut record, side.entry_us);
            records.push(record);
        }
    }

    fn times(&self, record: &mut PhaseRecord) {
        put(record, &ELAPSED, self.last_ms * NS_PER_MS);
        if self.last_ms == 0.0 {
            let note = "It took less than a millisecond, and elbencho prints no time of that.";
            record.notes.push(note.to_owned());
        }
        let threads = self.parameters.get("threads").and_then(Value::as_u64);
        if threads.is_some_and(|threads| threads > 1) && self.first_ms > 0.0 {
            record.first_done_ns = Some((self.first_ms * NS_PER_MS).min(1e18) as u64);
        }
    }

    fn draft(&self, name: &str, kind: PhaseKind, headline: Headline) -> PhaseRecord {
        Draft {
            name: name.to_owned(),
            workload: "elbencho".to_owned(),
            kind,
            headline,
            parameters: self.parameters.clone(),
            swept: None,
        }
        .record()
    }
}

/// Stores a throughput that is rounded down to MiB.
fn whole_mib(record: &mut PhaseRecord, bytes_per_s: f64) {
    let mib = bytes_per_s / MIB;
    if mib >= WHOLE_MIB_MIN {
        put(record, &THROUGHPUT, bytes_per_s);
    } else {
        record.notes.push(format!(
            "elbencho prints {mib} MiB/s, rounded down: its JSON (--jsonfile) has the throughput."
        ));
    }
    if (WHOLE_MIB_MIN..WHOLE_MIB_NOTED).contains(&mib) {
        record.notes.push(format!(
            "The throughput is rounded down to a MiB/s, by up to {:.1} %.",
            100.0 / mib
        ));
    }
}

fn latency(record: &mut PhaseRecord, us: Option<[f64; 3]>) {
    if let Some([min, mean, max]) = us {
        put(record, &LATENCY_MAX, max * NS_PER_US);
        let note = format!("The mean latency is {mean} us, the smallest is {min} us.");
        record.notes.push(note);
    }
}

/// A setting as a parameter: a count, a flag, or a word; `None` if it is empty.
pub(super) fn setting(name: &str, text: &str) -> Option<Value> {
    const FLAGS: [&str; 4] = ["direct", "random", "random_aligned", "truncate"];
    match text {
        "" => None,
        "true" => Some(true.into()),
        "false" => Some(false.into()),
        _ if FLAGS.contains(&name) => Some((text != "0").into()),
        _ => match text.parse::<i64>() {
            Ok(count) if count >= 0 => Some(count.into()),
            _ => Some(text.into()),
        },
    }
}

/// A number in JSON, which elbencho writes as a text; 0 if missing.
fn figure(fields: &Fields, name: &str) -> Result<f64, Fault> {
    let Some(value) = fields.get(name) else {
        return Ok(0.0);
    };
    let text = value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned);
    let wrong = || Fault::value(fields.path(name), &*text, "a number from 0");
    number(&text).ok_or_else(wrong)
}

/// `{"min_us": "37", "avg_us": "76", "max_us": "156"}`.
fn micros(fields: Option<&Fields>) -> Result<Option<[f64; 3]>, Fault> {
    let Some(fields) = fields.filter(|fields| fields.get("max_us").is_some()) else {
        return Ok(None);
    };
    let of = |name: &str| figure(fields, name);
    Ok(Some([of("min_us")?, of("avg_us")?, of("max_us")?]))
}

fn of_json(fields: &Fields) -> Result<Phase, Fault> {
    let missing = |name: &str| Fault::missing(&*fields.place, name).hint(HINT);
    let operation = fields.text("phase_type")?;
    let operation = operation.ok_or_else(|| missing("phase_type"))?;
    let mut phase = Phase {
        place: fields.path("phase_type"),
        operation: operation.to_owned(),
        stamp: fields.text("iso_start_date")?.map(str::to_owned),
        ..Phase::default()
    };
    if let Some(config) = fields.object("config")? {
        for (_, key, name) in SETTINGS {
            let value = config.text(key)?.and_then(|text| setting(name, text));
            if let Some(value) = value {
                phase.parameters.insert(name.to_owned(), value);
            }
        }
        phase.version = config.text("version")?.unwrap_or_default().to_owned();
    }
    if let Some(first) = fields.object("first_done")? {
        phase.first_ms = figure(&first, "elapsed_time_ms")?;
    }
    let last = fields.object("last_done")?;
    let last = last.ok_or_else(|| missing("last_done"))?;
    phase.last_ms = figure(&last, "elapsed_time_ms")?;
    let latency = last.object("latency")?;
    let of_latency = |name: &str| -> Result<Option<Fields>, Fault> {
        Ok(latency
            .as_ref()
            .map(|it| it.object(name))
            .transpose()?
            .flatten())
    };
    let (entries, io) = (of_latency("entries")?, of_latency("IO")?);
    let reads = last.object("rwmix_read")?;
    for (side, fields) in phase.sides.iter_mut().zip([Some(last), reads]) {
        let Some(fields) = fields else { continue };
        *side = Side {
            entries_per_s: figure(&fields, "entries/s")?,
            entries: figure(&fields, "entries")?,
            operations_per_s: figure(&fields, "iops")?,
            bytes_per_s: figure(&fields, "bytes/s")?,
            bytes: figure(&fields, "bytes")?,
            ..Side::default()
        };
    }
    let [writes, reads] = &mut phase.sides;
    for (spread, fields, of_reads) in [
        (&mut writes.entry_us, &entries, false),
        (&mut writes.operation_us, &io, false),
        (&mut reads.entry_us, &entries, true),
        (&mut reads.operation_us, &io, true),
    ] {
        let inner = match (of_reads, fields) {
            (true, Some(fields)) => fields.object("rwmix_read")?,
            (_, fields) => fields.clone(),
        };
        *spread = micros(inner.as_ref())?;
    }
    Ok(phase)
}

/// Reads the rows after each head. The command, which is last, is not quoted as CSV would be, and
/// elbencho replaces its commas.
fn csv(text: &str, results: &mut Results) -> Result<(), Fault> {
    let mut columns: Vec<&str> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim_end();
        if line.starts_with(CSV_HEAD) {
            columns = line.split(',').collect();
            continue;
        }
        let is_row = !columns.is_empty() && line.contains(',');
        if !is_row {
            continue;
        }
        let fields: Vec<&str> = line.split(',').collect();
        let place = format!("line {number}");
        if fields.len() != columns.len() {
            return Err(Fault::fields(place, fields.len(), columns.len()).hint(HINT));
        }
        let row: BTreeMap<&str, &str> = columns.iter().copied().zip(fields).collect();
        results.take(of_row(&place, &row)?)?;
    }
    Ok(())
}

fn of_row(place: &str, row: &BTreeMap<&str, &str>) -> Result<Phase, Fault> {
    let text = |name: &str| row.get(name).copied().unwrap_or_default();
    let figure = |name: &str| -> Result<f64, Fault> {
        let wrong = || Fault::value(format!("{place}, {name}"), text(name), "a number from 0");
        match text(name) {
            "" => Ok(0.0),
            text => number(text).ok_or_else(wrong),
        }
    };
    let mut phase = Phase {
        place: format!("{place}, operation"),
        operation: text("operation").to_owned(),
        version: text("version").to_owned(),
        stamp: Some(text("ISO date").to_owned()).filter(|date| !date.is_empty()),
        first_ms: figure("time ms [first]")?,
        last_ms: figure("time ms [last]")?,
        ..Phase::default()
    };
    for (column, _, name) in SETTINGS {
        if let Some(value) = setting(name, text(column)) {
            phase.parameters.insert(name.to_owned(), value);
        }
    }
    for (side, begin) in phase.sides.iter_mut().zip(["", "rwmix read "]) {
        let of = |name: &str| figure(&format!("{begin}{name}"));
        let spread = |name: &str| -> Result<Option<[f64; 3]>, Fault> {
            let of = |end: &str| of(&format!("{name} lat us [{end}]"));
            let is_known = !text(&format!("{begin}{name} lat us [max]")).is_empty();
            let all = [of("min")?, of("avg")?, of("max")?];
            Ok(is_known.then_some(all))
        };
        *side = Side {
            entries_per_s: of("entries/s [last]")?,
            entries: of("entries [last]")?,
            operations_per_s: of("IOPS [last]")?,
            bytes_per_s: of("MiB/s [last]")? * MIB,
            is_whole_mib: true,
            bytes: 0.0,
            entry_us: spread("Ent")?,
            operation_us: spread("IO")?,
        };
    }
    Ok(phase)
}
