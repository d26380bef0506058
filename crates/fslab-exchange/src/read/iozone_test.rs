//! The tests of Iozone, and what it prints before their figures.

use fslab_model::definitions::{CPU_SHARE, OPERATION_RATE, THROUGHPUT};
use fslab_model::{Facts, Headline, Parameters, PhaseKind, PhaseRecord, PointValue, Swept};

use crate::reading::Draft;

const KIB: f64 = 1024.0;

/// A kind of test of Iozone.
pub(crate) struct Test {
    /// The phase's name in studies.
    pub(crate) phase: &'static str,
    pub(crate) kind: PhaseKind,
    /// The title of its report, without its last word.
    pub(crate) report: &'static str,
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
    pub(super) fn share(&self, shares: &[Self]) -> Option<f64> {
        let is_of = |it: &&Self| (&it.phase, it.place) == (&self.phase, self.place);
        shares.iter().find(is_of).map(|share| share.value)
    }
}

/// The lines before the figures.
#[derive(Default)]
pub(crate) struct Preamble {
    version: Option<String>,
    pub(crate) measure: Measure,
    parameters: Parameters,
    pub(super) facts: Facts,
    pub(super) began: Option<String>,
}

impl Preamble {
    pub(super) fn of(lines: &[(usize, &str)]) -> Self {
        let mut preamble = Self::default();
        for (_, line) in lines {
            let line = line.trim();
            if let Some(rest) = line.strip_prefix("Version $Revision:") {
                preamble.version = Some(rest.trim_matches([' ', '$']).to_owned());
            } else if let Some(command) = line.strip_prefix("Command line used:") {
                let command = command.trim().to_owned();
                preamble.facts.insert("iozone command".into(), command);
            } else if let Some(began) = line.strip_prefix("Run began:") {
                preamble.began = Some(began.trim().to_owned());
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

    pub(super) fn tool(&self) -> String {
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

/// Stores a processor share, in percent, in a phase.
pub(crate) fn put_share(phase: &mut PhaseRecord, percent: Option<f64>) {
    if let Some(percent) = percent.filter(|percent| *percent > 0.0) {
        let name = CPU_SHARE.name.to_owned();
        phase.figures.insert(name, percent / 100.0);
    }
}

pub(super) const fn test(phase: &'static str, kind: PhaseKind, report: &'static str) -> Test {
    Test {
        phase,
        kind,
        report,
    }
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
