//! Iozone's throughput mode: concurrent processes, a figure for each test and number of processes.
//!
//! The figure is the sum of the children's rates ("Children see"). A single number of processes is
//! a parameter; several are a sweep.

use std::collections::BTreeSet;

use fslab_model::{Headline, Parameters, PhaseKind, PhaseRecord, PointValue, Swept};

use super::iozone_test::{Preamble, put_share};
use crate::error::Fault;
use crate::reading::{Draft, number};

/// Iozone's names of the tests in this mode: the processes, the row of the report, the phase here.
const TESTS: [(&str, &str, &str, PhaseKind); 13] = [
    (
        "initial writers",
        "Initial write",
        "write",
        PhaseKind::Write,
    ),
    ("rewriters", "Rewrite", "rewrite", PhaseKind::Write),
    ("readers", "Read", "read", PhaseKind::Read),
    ("re-readers", "Re-read", "reread", PhaseKind::Read),
    (
        "reverse readers",
        "Reverse Read",
        "backward-read",
        PhaseKind::Read,
    ),
    (
        "stride readers",
        "Stride read",
        "strided-read",
        PhaseKind::Read,
    ),
    (
        "random readers",
        "Random read",
        "random-read",
        PhaseKind::Read,
    ),
    (
        "mixed workload",
        "Mixed workload",
        "mixed-workload",
        PhaseKind::Mixed,
    ),
    (
        "random writers",
        "Random write",
        "random-write",
        PhaseKind::Write,
    ),
    ("pwrite writers", "Pwrite", "pwrite", PhaseKind::Write),
    ("pread readers", "Pread", "pread", PhaseKind::Read),
    ("fwriters", "Fwrite", "fwrite", PhaseKind::Write),
    ("freaders", "Fread", "fread", PhaseKind::Read),
];

/// The names of the phases, of which some are those of [`super::iozone_test::TESTS`].
#[cfg(test)]
pub(crate) fn phase_names() -> impl Iterator<Item = &'static str> {
    TESTS.iter().map(|(_, _, phase, _)| *phase)
}

/// True for a line that only this mode writes.
pub(crate) fn is_mark(line: &str) -> bool {
    line.starts_with("Children see throughput for")
        || line.starts_with("\"Throughput report Y-axis")
        || line.starts_with("Throughput test with ")
}

/// One figure.
struct Seen {
    phase: &'static str,
    kind: PhaseKind,
    /// `None` if the output lacks it.
    processes: Option<u64>,
    rate: f64,
    /// 0 if some child did nothing meanwhile.
    min_xfer: Option<f64>,
    /// The processor share, in percent (`-+u`).
    share: Option<f64>,
}

/// The phases of one output.
pub(crate) fn phases(
    lines: &[(usize, &str)],
    preamble: &Preamble,
) -> Result<Vec<PhaseRecord>, Fault> {
    let mut parameters = Parameters::new();
    let mut seen: Vec<Seen> = Vec::new();
    for (number, line) in lines {
        let line = line.trim();
        if let Some(rest) = line.strip_prefix("Children see throughput for") {
            seen.push(children(rest, *number)?);
        } else if let Some(rest) = line.strip_prefix("Min xfer") {
            let text = rest.trim_start_matches([' ', '\t', '=']);
            let value = text.split_whitespace().next().and_then(self::number);
            if let Some(last) = seen.last_mut() {
                last.min_xfer = value;
            }
        } else if let Some(percent) = share(line) {
            if let Some(last) = seen.last_mut() {
                last.share = Some(percent);
            }
        } else if let Some((file, record)) = sizes(line) {
            parameters.insert("file_size".into(), file.into());
            parameters.insert("record".into(), record.into());
        }
    }
    if seen.is_empty() {
        seen = report(lines, &mut parameters)?;
    }
    if seen.is_empty() {
        return Err(Fault::truncated(
            "",
            "no test follows the head of the throughput mode",
        ));
    }
    let counts: BTreeSet<Option<u64>> = seen.iter().map(|seen| seen.processes).collect();
    let is_sweep = counts.len() > 1;
    let record_kib = parameters.get("record").and_then(serde_json::Value::as_u64);
    let phase = |seen: &Seen| {
        let mut record = record(seen, &parameters, is_sweep, preamble);
        preamble.put(&mut record, seen.rate, record_kib.map(|bytes| bytes >> 10));
        put_share(&mut record, seen.share);
        if seen.min_xfer == Some(0.0) {
            let note = "One of the processes had done nothing when the first was done: they did \
                        not work at the same time.";
            record.notes.push(note.to_owned());
        }
        record
    };
    Ok(seen.iter().map(phase).collect())
}

fn record(
    seen: &Seen,
    parameters: &Parameters,
    is_sweep: bool,
    preamble: &Preamble,
) -> PhaseRecord {
    let mut parameters = parameters.clone();
    if let Some(processes) = seen.processes {
        parameters.insert("processes".into(), processes.into());
    }
    let processes = seen.processes.filter(|_| is_sweep);
    let mut record = match processes {
        Some(processes) => {
            let swept = Swept {
                phase: seen.phase.to_owned(),
                point: [("processes".to_owned(), PointValue::Count(processes))].into(),
            };
            preamble.swept(seen.phase, seen.kind, swept)
        }
        None => {
            let draft = Draft {
                name: seen.phase.to_owned(),
                workload: "iozone".to_owned(),
                kind: seen.kind,
                headline: Headline::Throughput,
                parameters: Parameters::new(),
                swept: None,
            };
            draft.record()
        }
    };
    record.parameters.extend(parameters);
    record
}

/// `  2 initial writers \t= 1753187.00 kB/sec`
fn children(rest: &str, line: usize) -> Result<Seen, Fault> {
    let place = || format!("line {line}");
    let wanted = "processes, a test, '=' and a rate";
    let wrong = || Fault::value(place(), rest.trim(), wanted);
    let (what, rate) = rest.split_once('=').ok_or_else(wrong)?;
    let what = what.trim();
    let (processes, test) = what.split_once(' ').ok_or_else(wrong)?;
    let processes: u64 = processes.parse().map_err(|_| wrong())?;
    let (_, _, phase, kind) = TESTS
        .iter()
        .find(|(name, ..)| *name == test.trim())
        .ok_or_else(|| Fault::value(place(), test.trim(), "a test of Iozone that is known"))?;
    let text = rate.split_whitespace().next().unwrap_or_default();
    let rate = number(text).ok_or_else(|| Fault::value(place(), text, "a rate"))?;
    Ok(Seen {
        phase,
        kind: *kind,
        processes: Some(processes),
        rate,
        min_xfer: None,
        share: None,
    })
}

/// `CPU utilization: Wall time    1.250    CPU time    1.875    CPU utilization 150.00 %`, in
/// percent.
fn share(line: &str) -> Option<f64> {
    let (head, rest) = line.split_once(':')?;
    let (_, percent) = rest.rsplit_once("CPU utilization")?;
    let percent = percent.trim().strip_suffix('%')?;
    number(percent.trim()).filter(|_| head.eq_ignore_ascii_case("cpu utilization"))
}

/// `Each process writes a 1024 kByte file in 64 kByte records`, in bytes.
fn sizes(line: &str) -> Option<(u64, u64)> {
    let rest = line.strip_prefix("Each ")?;
    let mut numbers = rest
        .split_whitespace()
        .filter_map(|word| word.parse::<u64>().ok());
    let (file, record) = (numbers.next()?, numbers.next()?);
    Some((file.checked_mul(1024)?, record.checked_mul(1024)?))
}

/// The report alone, as copied into a spreadsheet: with several columns it lacks the number of
/// processes of each.
fn report(lines: &[(usize, &str)], parameters: &mut Parameters) -> Result<Vec<Seen>, Fault> {
    let mut seen: Vec<Seen> = Vec::new();
    let mut is_share = false;
    for (line_number, line) in lines {
        let line = line.trim();
        if line.contains(" report Y-axis is type of test") {
            is_share = line.starts_with("\"CPU utilization");
        }
        if let Some(rest) = line.strip_prefix("\"Record size = ") {
            let kib = rest
                .split_whitespace()
                .next()
                .and_then(|word| word.parse::<u64>().ok());
            if let Some(bytes) = kib.and_then(|kib| kib.checked_mul(1024)) {
                parameters.insert("record".into(), bytes.into());
            }
        }
        let row = line.strip_prefix('"').and_then(|rest| rest.split_once('"'));
        let Some((title, values)) = row else { continue };
        let known = TESTS.iter().find(|(_, name, ..)| *name == title.trim());
        let Some((_, _, phase, kind)) = known else {
            continue;
        };
        let place = format!("line {line_number} ({phase})");
        let values: Vec<&str> = values.split_whitespace().collect();
        let [text] = values.as_slice() else {
            let found = format!("{} rates", values.len());
            let hint = "import the complete output of Iozone, which has the processes of each";
            return Err(Fault::value(place, found, "one rate").hint(hint));
        };
        let rate = number(text).ok_or_else(|| Fault::value(place, *text, "a rate"))?;
        if is_share {
            let known = seen.iter_mut().find(|seen| seen.phase == *phase);
            known.into_iter().for_each(|seen| seen.share = Some(rate));
            continue;
        }
        seen.push(Seen {
            phase,
            kind: *kind,
            processes: None,
            rate,
            min_xfer: None,
            share: None,
        });
    }
    Ok(seen)
}
