//! The output of Iozone: its reports (`-R`), else its table, or its throughput mode (`-t`, `-l`).
//!
//! A rate is in KiB a second unless the lines before the figures state another unit: `-O`
//! operations a second, `-N` microseconds an operation. Several outputs in a file are repeats.

use fslab_model::definitions::{CPU_SHARE, OPERATION_RATE, THROUGHPUT};
use fslab_model::{
    Bytes, Facts, Headline, Parameters, PhaseKind, PhaseOutcome, PhaseRecord, PointValue, Swept,
};

use super::iozone_reports::{report_title, reports, share_title};
use super::{iozone_table, iozone_throughput};
use crate::error::Fault;
use crate::reading::{Draft, Measured, Reading};

const BANNER: &str = "Iozone: Performance Test of File I/O";
/// Lines that announce reports, and processor shares after them (`-+u`).
const SHARES: [&str; 2] = [
    "Excel chart generation enabled",
    "CPU utilization Excel chart enabled",
];
/// The line that announces verification of every byte (`-+d`).
const INVALID: &str = "Performance measurements are invalid in this mode.";
const KIB: f64 = 1024.0;

/// A kind of test of Iozone.
pub(crate) struct Test {
    /// The phase's name in studies.
    pub(crate) phase: &'static str,
    pub(crate) kind: PhaseKind,
    /// The title of its report, without its last word.
    pub(crate) report: &'static str,
}

const fn test(phase: &'static str, kind: PhaseKind, report: &'static str) -> Test {
    Test {
        phase,
        kind,
        report,
    }
}

/// In the order of Iozone's columns; the last ones have no column.
pub(crate) const TESTS: [Test; 21] = [
    test("write", PhaseKind::Write, "Writer"),
    test("rewrite", PhaseKind::Write, "Re-writer"),
    test("read", PhaseKind::Read, "Reader"),
    test("reread", PhaseKind::Read, "Re-Reader"),
    test("random-read", PhaseKind::Read, "Random read"),
    test("random-write", PhaseKind::Write, "Random write"),
    test("backward-read", PhaseKind::Read, "Backward read"),
    test("record-rewrite", PhaseKind::Write, "Record rewrite"),
    test("strided-read", PhaseKind::Read, "Stride read"),
    test("fwrite", PhaseKind::Write, "Fwrite"),
    test("refwrite", PhaseKind::Write, "Re-Fwrite"),
    test("fread", PhaseKind::Read, "Fread"),
    test("refread", PhaseKind::Read, "Re-Fread"),
    test("pwrite", PhaseKind::Write, "Pwrite"),
    test("repwrite", PhaseKind::Write, "Re-Pwrite"),
    test("pread", PhaseKind::Read, "Pread"),
    test("repread", PhaseKind::Read, "Re-Pread"),
    test("pwritev", PhaseKind::Write, "Pwritev"),
    test("repwritev", PhaseKind::Write, "Re-Pwritev"),
    test("preadv", PhaseKind::Read, "Preadv"),
    test("repreadv", PhaseKind::Read, "Re-Preadv"),
];

/// True for a line that only Iozone writes.
pub(crate) fn is_mark(line: &str) -> bool {
    line == BANNER
        || line == "Excel output is below:"
        || report_title(line).is_some()
        || share_title(line).is_some()
        || line.starts_with("Children see throughput for")
        || line.starts_with("\"Throughput report Y-axis")
        || iozone_table::is_head(line)
}

/// The unit of the figures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Measure {
    /// KiB a second.
    #[default]
    Kib,
    /// Operations a second.
    Operations,
    /// Microseconds an operation.
    Microseconds,
}

impl Measure {
    /// The unit that a line before the figures states.
    fn of(line: &str) -> Option<Self> {
        let line = line.trim_matches('"').to_ascii_lowercase();
        if line.starts_with("ops mode")
            || line.contains("output is in operations per second")
            || line.starts_with("output is in ops/sec")
        {
            Some(Self::Operations)
        } else if line.starts_with("microseconds/op mode") || line.contains("microseconds per op") {
            Some(Self::Microseconds)
        } else if line.starts_with("output is in k") {
            Some(Self::Kib)
        } else {
            None
        }
    }
}

/// A file size and a record size, in KiB.
pub(crate) type Place = (u64, u64);

/// One figure, as printed.
pub(crate) struct Spot {
    pub(crate) phase: String,
    pub(crate) kind: PhaseKind,
    pub(crate) place: Place,
    pub(crate) value: f64,
}

impl Spot {
    /// Its processor share, in percent.
    fn share(&self, shares: &[Self]) -> Option<f64> {
        let is_of = |it: &&Self| (&it.phase, it.place) == (&self.phase, self.place);
        shares.iter().find(is_of).map(|share| share.value)
    }
}

/// Reads every output in `text`.
pub(crate) fn read(text: &str) -> Result<Reading, Fault> {
    let mut reading = Reading {
        engine: Some("iozone".to_owned()),
        ..Reading::default()
    };
    let lines: Vec<(usize, &str)> = (1..).zip(text.lines()).collect();
    let starts: Vec<usize> = lines
        .iter()
        .enumerate()
        .filter(|(_, (_, line))| line.trim() == BANNER || subject_of(line).is_some())
        .map(|(index, _)| index)
        .collect();
    let mut bounds = vec![0];
    bounds.extend(starts.into_iter().skip_while(|start| *start == 0));
    bounds.push(lines.len());
    for bound in bounds.windows(2) {
        let part = &lines[bound[0]..bound[1]];
        let has_mark = part.iter().any(|(_, line)| is_mark(line.trim()));
        if has_mark {
            output(part, &mut reading)?;
        }
    }
    Ok(reading)
}

/// The subject of a report written by fslab; Iozone's own has none.
fn subject_of(line: &str) -> Option<&str> {
    line.trim().strip_prefix("Subject:").map(str::trim)
}

/// The lines before the figures.
#[derive(Default)]
pub(crate) struct Preamble {
    version: Option<String>,
    pub(crate) measure: Measure,
    parameters: Parameters,
    facts: Facts,
}

impl Preamble {
    fn of(lines: &[(usize, &str)]) -> Self {
        let mut preamble = Self::default();
        for (_, line) in lines {
            let line = line.trim();
            if let Some(rest) = line.strip_prefix("Version $Revision:") {
                preamble.version = Some(rest.trim_matches([' ', '$']).to_owned());
            } else if let Some(command) = line.strip_prefix("Command line used:") {
                let command = command.trim().to_owned();
                preamble.facts.insert("iozone command".into(), command);
            } else if let Some(measure) = Measure::of(line) {
                preamble.measure = measure;
            } else {
                preamble.switch(line);
            }
        }
        preamble
    }

    /// Records a switch that changes the meaning of a rate.
    fn switch(&mut self, line: &str) {
        const SWITCHES: [(&str, &str); 8] = [
            ("Include close in write timing", "close"),
            ("Include fsync in write timing", "fsync"),
            ("O_DIRECT feature enabled", "direct"),
            ("SYNC Mode", "o_sync"),
            ("Using mmap files", "mmap"),
            ("Purge Mode On", "purge"),
            ("No retest option selected", "no_retest"),
            ("Cross over of record size disabled", "no_cross_over"),
        ];
        let known = SWITCHES.iter().find(|(text, _)| line.starts_with(text));
        if let Some((_, name)) = known {
            self.parameters.insert((*name).into(), true.into());
        }
        let stride = line
            .strip_prefix("File stride size set to ")
            .and_then(|rest| rest.strip_suffix(" * record size."));
        if let Some(stride) = stride.and_then(|stride| stride.parse::<u64>().ok()) {
            self.parameters
                .insert("stride_records".into(), stride.into());
        }
    }

    fn tool(&self) -> String {
        match &self.version {
            Some(version) => format!("iozone {version}"),
            None => "iozone".to_owned(),
        }
    }

    /// Stores a figure in a record; 0 means that it was too large or too small to print.
    pub(crate) fn put(&self, record: &mut PhaseRecord, value: f64, record_kib: Option<u64>) {
        let record_bytes = record_kib.map(|kib| kib as f64 * KIB);
        if value == 0.0 {
            record
                .notes
                .push("Iozone printed 0 for it, which is no figure.".to_owned());
            return;
        }
        let mut set = |name: &str, value: f64| record.figures.insert(name.to_owned(), value);
        match self.measure {
            Measure::Kib => {
                set(THROUGHPUT.name, value * KIB);
            }
            Measure::Operations => {
                set(OPERATION_RATE.name, value);
                record_bytes.map(|bytes| set(THROUGHPUT.name, value * bytes));
            }
            Measure::Microseconds => {
                set(OPERATION_RATE.name, 1e6 / value);
                record_bytes.map(|bytes| set(THROUGHPUT.name, bytes * 1e6 / value));
                let note =
                    format!("Iozone gives {value} microseconds an operation, without decimals.");
                record.notes.push(note);
            }
        }
    }

    /// A record of a test at a point of the sweep.
    pub(crate) fn swept(&self, phase: &str, kind: PhaseKind, swept: Swept) -> PhaseRecord {
        let values: Vec<String> = swept.point.values().map(short).collect();
        let mut parameters = self.parameters.clone();
        for (name, value) in &swept.point {
            parameters.insert(name.clone(), value.number().into());
        }
        let draft = Draft {
            name: format!("{phase} {}", values.join("/")),
            workload: "iozone".to_owned(),
            kind,
            headline: Headline::Throughput,
            parameters,
            swept: Some(swept),
        };
        draft.record()
    }
}

fn short(value: &PointValue) -> String {
    value.to_string().replace(' ', "")
}

fn output(lines: &[(usize, &str)], reading: &mut Reading) -> Result<(), Fault> {
    let preamble = Preamble::of(lines);
    let is_throughput = lines
        .iter()
        .any(|(_, line)| iozone_throughput::is_mark(line.trim()));
    let has = |mark: &str| lines.iter().any(|(_, line)| line.trim() == mark);
    if has(BANNER) && !has("iozone test complete.") {
        let missing = "the line 'iozone test complete.' is not there";
        return Err(Fault::truncated("", missing));
    }
    let mut phases = if is_throughput {
        iozone_throughput::phases(lines, &preamble)?
    } else {
        let spots = spots(lines)?;
        let zeros = spots.iter().filter(|spot| spot.value == 0.0).count();
        if zeros > 0 {
            let note = format!("{zeros} points that Iozone gives as 0 were not measured");
            reading.notes.push(note);
        }
        let shares = reports(lines, share_title)?;
        if SHARES.into_iter().all(has) {
            ensure_shares(&spots, &shares)?;
        }
        matrix(&spots, &shares, &preamble)
    };
    if has(INVALID) {
        let note = "Iozone says itself that figures of its mode of diagnosis (-+d) are invalid";
        reading.notes.push(note.to_owned());
    }
    if phases.is_empty() {
        return Err(Fault::no_figure(
            "Iozone printed neither a report nor a row of its table",
        ));
    }
    for phase in &mut phases {
        if phase.figures.is_empty() && phase.outcome == PhaseOutcome::Done {
            phase.outcome = PhaseOutcome::Skipped {
                reason: "Iozone printed no figure of it".to_owned(),
            };
        }
    }
    let tool = preamble.tool();
    let mut facts = preamble.facts;
    facts.insert("iozone".into(), tool.clone());
    if !reading.tool.is_empty() && reading.tool != tool {
        reading.notes.push(format!(
            "outputs of {} and {tool} are in one file",
            reading.tool
        ));
    }
    reading.tool = tool;
    let subject = lines.iter().find_map(|(_, line)| subject_of(line));
    reading.trials.push(Measured {
        subject: subject.map(str::to_owned),
        phases,
        facts,
        ..Measured::default()
    });
    Ok(())
}

/// The figures of the reports, else of the table. With both, the table shows whether the reports,
/// which follow it, are complete.
fn spots(lines: &[(usize, &str)]) -> Result<Vec<Spot>, Fault> {
    let reports = reports(lines, report_title)?;
    if reports.is_empty() {
        return iozone_table::spots(lines);
    }
    // An ambiguous table proves nothing.
    for spot in iozone_table::spots(lines).unwrap_or_default() {
        let is_there =
            |it: &Spot| (&it.phase, it.place, it.value) == (&spot.phase, spot.place, spot.value);
        if !reports.iter().any(is_there) {
            let (file, record) = spot.place;
            let missing = format!(
                "the reports lack {} of {} for a file of {file} KiB in records of {record} KiB",
                spot.value, spot.phase
            );
            return Err(Fault::truncated("", missing));
        }
    }
    Ok(reports)
}

/// The figures as phases, each at its point of the sweep, with processor shares in percent, of
/// which Iozone gives 0 for unknown ones (`-+u`).
fn matrix(spots: &[Spot], shares: &[Spot], preamble: &Preamble) -> Vec<PhaseRecord> {
    let mut phases: Vec<PhaseRecord> = Vec::new();
    for spot in spots.iter().filter(|spot| spot.value > 0.0) {
        let (file, record) = spot.place;
        let point = [("file_size", file), ("record", record)];
        let swept = Swept {
            phase: spot.phase.clone(),
            point: point
                .map(|(name, kib)| (name.to_owned(), PointValue::Bytes(Bytes::kib(kib).0)))
                .into(),
        };
        let mut phase = preamble.swept(&spot.phase, spot.kind, swept);
        if phases.iter().all(|known| known.name != phase.name) {
            preamble.put(&mut phase, spot.value, Some(record));
            put_share(&mut phase, spot.share(shares));
            phases.push(phase);
        }
    }
    phases
}

/// Checks that there is a share for every figure of these if there is any.
fn ensure_shares(spots: &[Spot], shares: &[Spot]) -> Result<(), Fault> {
    match spots.iter().find(|spot| spot.share(shares).is_none()) {
        None => Ok(()),
        Some(spot) => {
            let (file, record) = spot.place;
            let missing = format!(
                "the share of the processor is not there for {} of a file of {file} KiB in records \
                 of {record} KiB",
                spot.phase
            );
            Err(Fault::truncated("", missing))
        }
    }
}

/// Stores a processor share, in percent, in a phase.
pub(crate) fn put_share(phase: &mut PhaseRecord, percent: Option<f64>) {
    if let Some(percent) = percent.filter(|percent| *percent > 0.0) {
        let name = CPU_SHARE.name.to_owned();
        phase.figures.insert(name, percent / 100.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORTS: &str = "\"Writer report\"\n        \"4\"  \"8\"\n\"4\"   100 \n\
                           \"64\"   200  300 \n\n\
                           \"Pwritex report\"\n        \"4\"\n\"64\"   7 \n";

    #[test]
    fn reports_are_a_sweep_over_file_and_record_size() {
        let reading = read(REPORTS).expect("reports");
        let phases = &reading.trials[0].phases;
        let names: Vec<&str> = phases.iter().map(|phase| &*phase.name).collect();
        assert_eq!(
            names,
            [
                "write 4KiB/4KiB",
                "write 64KiB/4KiB",
                "write 64KiB/8KiB",
                "pwritex 64KiB/4KiB"
            ]
        );
        assert_eq!(phases[2].figures["throughput"], 300.0 * 1024.0);
    }

    #[test]
    fn operations_a_second_and_microseconds_are_not_read_as_rates() {
        let text = |line: &str| format!("{line}\n{REPORTS}");
        let rate = |line: &str| {
            let reading = read(&text(line)).expect("reports");
            reading.trials[0].phases[2].figures.clone()
        };
        let operations = rate("\tOPS Mode. Output is in operations per second.");
        assert_eq!(operations["operation_rate"], 300.0);
        assert_eq!(operations["throughput"], 300.0 * 8192.0);
        let time = rate("\tMicroseconds/op Mode. Output is in microseconds per operation.");
        assert!((time["operation_rate"] - 1e6 / 300.0).abs() < 1e-9);
    }

    #[test]
    fn a_report_that_is_cut_off_or_makes_no_sense_is_refused_by_its_place() {
        let fault = |text: &str| read(text).expect_err(text);
        for cut in [
            "\"Writer report\"\n",
            "\"Writer report\"\n        \"4\"  \"8\"\n",
            "\"Writer report\"\n        \"4\"  \"8\"\n\"64\"   200\n",
        ] {
            let text = fault(cut).to_string();
            assert!(text.contains("it is cut off: "), "{text}");
        }
        let negative = REPORTS.replace("300", "-300");
        let shown = fault(&negative).to_string();
        assert!(
            shown.starts_with("line 4, column 3 (write, 8 KiB): \"-300\""),
            "{shown}"
        );
        let many = REPORTS.replace("300", "300 400");
        assert!(fault(&many).to_string().contains("3 rates"));
    }
}
