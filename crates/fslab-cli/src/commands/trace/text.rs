//! A summary of a trace, as text or JSON.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use fslab_model::Bytes;
use fslab_trace::{CallOutcome, Header, Operation, Trace};
use schemars::JsonSchema;
use serde::Serialize;

/// Counts of one kind of operation.
#[derive(Default, Serialize, JsonSchema)]
struct Count {
    calls: u64,
    failed: u64,
    bytes: u64,
    took_ns: u64,
}

/// Counts of a trace.
struct Summary {
    kinds: BTreeMap<&'static str, Count>,
    errors: BTreeMap<String, u64>,
    processes: usize,
    changed: usize,
}

impl Summary {
    fn of(trace: &Trace) -> Self {
        let mut summary = Self {
            kinds: BTreeMap::new(),
            errors: BTreeMap::new(),
            processes: 0,
            changed: 0,
        };
        let mut threads = BTreeSet::new();
        for event in &trace.events {
            if !event.operation.is_file_operation() {
                continue;
            }
            threads.insert(event.thread);
            let count = summary.kinds.entry(event.operation.name()).or_default();
            count.calls += 1;
            count.took_ns += event.took_ns;
            match &event.outcome {
                CallOutcome::Result(moved) if moves_data(&event.operation) => count.bytes += moved,
                CallOutcome::Result(_) => {}
                CallOutcome::Error(name) => {
                    count.failed += 1;
                    let kind = format!("{} {name}", event.operation.name());
                    *summary.errors.entry(kind).or_default() += 1;
                }
            }
        }
        summary.processes = threads.len();
        let before: BTreeMap<_, _> = trace
            .files
            .iter()
            .map(|file| (&file.path, (file.kind, file.bytes)))
            .collect();
        let is_changed = |file: &&fslab_trace::FinalFile| {
            before.get(&file.path).copied() != file.kind.map(|kind| (kind, file.bytes))
        };
        summary.changed = trace.final_files.iter().filter(is_changed).count();
        summary
    }

    fn operations(&self) -> u64 {
        self.kinds.values().map(|count| count.calls).sum()
    }

    fn bytes(&self, kind: &str) -> u64 {
        self.kinds.get(kind).map_or(0, |count| count.bytes)
    }
}

fn moves_data(operation: &Operation) -> bool {
    matches!(
        operation,
        Operation::Read { .. } | Operation::Write { .. } | Operation::Copy { .. }
    )
}

/// The output of `fslab trace show`.
pub(crate) fn text(trace: &Trace) -> String {
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = write_text(&mut text, trace);
    text
}

fn write_text(text: &mut String, trace: &Trace) -> std::fmt::Result {
    let (header, summary) = (&trace.header, Summary::of(trace));
    let bytes_before: u64 = trace.files.iter().map(|file| file.bytes).sum();
    writeln!(text, "command      {}", header.command.join(" "))?;
    writeln!(
        text,
        "directory    {} ({})",
        header.root, header.file_system
    )?;
    writeln!(text, "kernel       {}", header.kernel)?;
    writeln!(
        text,
        "took         {:.3} s under {}; {}",
        header.took_ns as f64 / 1e9,
        header.recorder,
        header.exit
    )?;
    writeln!(
        text,
        "operations   {} by {} of {} threads",
        summary.operations(),
        summary.processes,
        header.threads
    )?;
    writeln!(
        text,
        "data         {} read, {} written, {} copied",
        Bytes(summary.bytes("read")),
        Bytes(summary.bytes("write")),
        Bytes(summary.bytes("copy"))
    )?;
    writeln!(
        text,
        "files        {} names with {} before the command; {} of {} names used were changed",
        trace.files.len(),
        Bytes(bytes_before),
        summary.changed,
        trace.final_files.len()
    )?;
    writeln!(
        text,
        "\n{:<16} {:>9} {:>9} {:>12} {:>12}",
        "kind", "calls", "failed", "bytes", "ms"
    )?;
    for (kind, count) in &summary.kinds {
        writeln!(
            text,
            "{kind:<16} {:>9} {:>9} {:>12} {:>12.3}",
            count.calls,
            count.failed,
            count.bytes,
            count.took_ns as f64 / 1e6
        )?;
    }
    write_counts(text, "failures", &summary.errors)?;
    write_counts(text, "not in the trace", &header.unseen)
}

fn write_counts(
    text: &mut String,
    title: &str,
    counts: &BTreeMap<String, u64>,
) -> std::fmt::Result {
    if counts.is_empty() {
        return Ok(());
    }
    writeln!(text, "\n{title}")?;
    for (what, count) in counts {
        writeln!(text, "  {count:>7}  {what}")?;
    }
    Ok(())
}

/// The output of `fslab trace show --json`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct TraceDetails<'a> {
    header: &'a Header,
    operations: u64,
    kinds: BTreeMap<&'static str, Count>,
    /// Failed operations by name and error.
    failures: BTreeMap<String, u64>,
    files_before: usize,
    bytes_before: u64,
    names_used: usize,
    names_changed: usize,
    footprint_bytes: u64,
}

impl<'a> TraceDetails<'a> {
    pub(crate) fn of(trace: &'a Trace) -> Self {
        let summary = Summary::of(trace);
        Self {
            header: &trace.header,
            operations: summary.operations(),
            kinds: summary.kinds,
            failures: summary.errors,
            files_before: trace.files.len(),
            bytes_before: trace.files.iter().map(|file| file.bytes).sum(),
            names_used: trace.final_files.len(),
            names_changed: summary.changed,
            footprint_bytes: trace.footprint_bytes(),
        }
    }
}
