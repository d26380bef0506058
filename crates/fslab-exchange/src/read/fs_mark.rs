//! fs_mark's table, on its standard output and in its log, version 3: each line is an iteration.
//!
//! An iteration is a repeat. If the files stay (`-k`, `-F`), the file system fills, and the
//! iterations are points of a sweep over the number of files. With `-v` each system call is a
//! phase, with its largest time. `Files/sec` is the sum over the threads of files by the thread's
//! time, in which the removal of the files is not.

use fslab_model::definitions::{BYTES, LATENCY_MAX, OPERATION_RATE, OPERATIONS};
use fslab_model::{Headline, Parameters, PhaseKind, PhaseRecord, Point, PointValue, Swept};

use crate::error::Fault;
use crate::reading::{Draft, Measured, Reading, number, push_new, put};

/// The head of the table; with `-v` more columns follow.
const HEAD: [&str; 6] = ["FSUse%", "Count", "Size", "Files/sec", "App", "Overhead"];
/// Fields of a line.
const FIELDS: usize = 5;
const FIELDS_VERBOSE: usize = 23;
/// The calls of which a line with `-v` has the smallest, mean and largest time.
pub(crate) const CALLS: [(&str, PhaseKind); 6] = [
    ("creat", PhaseKind::Metadata),
    ("write", PhaseKind::Write),
    ("fsync", PhaseKind::Write),
    ("sync", PhaseKind::Write),
    ("close", PhaseKind::Metadata),
    ("unlink", PhaseKind::Metadata),
];
const NS_PER_US: f64 = 1e3;
const HINT: &str = "import the output of fs_mark from its line '#  fs_mark ...' to its last one";

/// True for lines that only fs_mark prints.
pub(crate) fn is_mark(line: &str) -> bool {
    version(line).is_some() || is_head(line)
}

/// `#  Version 3.3, 2 thread(s) starting at Mon Jan  5 10:00:00 2026`.
fn version(line: &str) -> Option<(&str, &str, &str)> {
    let rest = line.trim_start_matches('#').trim_start();
    let (version, rest) = rest.strip_prefix("Version ")?.split_once(", ")?;
    let (threads, time) = rest.split_once(" thread(s) starting at ")?;
    Some((version, threads, time))
}

fn is_head(line: &str) -> bool {
    let words = line.trim_start_matches('#').split_whitespace();
    words.take(HEAD.len()).eq(HEAD)
}

/// Reads every execution.
pub(crate) fn read(text: &str) -> Result<Reading, Fault> {
    let mut tools: Vec<String> = Vec::new();
    let mut executions: Vec<Execution> = Vec::new();
    let mut command = "";
    for (at, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if let Some((version, threads, time)) = version(line) {
            push_new(&mut tools, format!("fs_mark {version}"));
            executions.push(Execution::of(at, command, threads, time)?);
            command = "";
        } else if let Some(words) = command_of(line) {
            command = words;
        } else if is_head(line) {
            match executions.last_mut() {
                Some(execution) if !execution.has_table => execution.has_table = true,
                _ => {
                    let text = "there is no line 'Version VERSION, N thread(s) starting at ...' \
                                before the head of the table";
                    return Err(Fault::new(format!("line {at}"), text).hint(HINT));
                }
            }
        } else if let Some(execution) = executions.last_mut() {
            execution.line(at, line)?;
        }
    }
    if let Some(empty) = executions.iter().find(|it| it.rows.is_empty()) {
        let place = format!("execution at line {}", empty.line);
        return Err(Fault::truncated(place, "its table has no line of figures").hint(HINT));
    }
    if executions.is_empty() {
        let reason = "no line is 'Version VERSION, N thread(s) starting at ...'";
        return Err(Fault::no_figure(reason).hint(HINT));
    }
    let trials = executions.into_iter().flat_map(Execution::trials);
    Ok(Reading {
        tool: tools.join(", "),
        trials: trials.collect(),
        ..Reading::default()
    })
}

/// The arguments in `#  fs_mark  -d  a  -s  10240`.
fn command_of(line: &str) -> Option<&str> {
    let (program, arguments) = line.strip_prefix("#  ")?.split_once("  ")?;
    let is_program = program.rsplit('/').next()? == "fs_mark";
    is_program.then_some(arguments)
}

/// What fs_mark printed in one execution.
struct Execution {
    line: usize,
    parameters: Parameters,
    /// The time of its start, as printed.
    started: String,
    /// True if the files of an iteration stay.
    keeps: bool,
    has_table: bool,
    rows: Vec<Row>,
}

/// An iteration.
struct Row {
    /// Files since the start, of this iteration, and bytes of each.
    files_in_all: u64,
    files: u64,
    size: u64,
    files_per_s: f64,
    overhead_us: u64,
    /// Smallest, mean and largest microseconds of each call; empty without `-v`.
    calls: Vec<[u64; 3]>,
}

impl Execution {
    fn of(line: usize, command: &str, threads: &str, time: &str) -> Result<Self, Fault> {
        let wrong = || Fault::value(format!("line {line}"), threads, "a number of threads");
        let threads: u32 = threads.parse().map_err(|_| wrong())?;
        let words: Vec<&str> = command.split_whitespace().collect();
        Ok(Self {
            line,
            parameters: Parameters::from_iter([("threads".to_owned(), threads.into())]),
            started: time.to_owned(),
            keeps: words.contains(&"-k") || words.contains(&"-F"),
            has_table: false,
            rows: Vec::new(),
        })
    }

    fn line(&mut self, at: usize, line: &str) -> Result<(), Fault> {
        if !self.has_table {
            self.setting(line);
            return Ok(());
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        let is_row = words
            .first()
            .is_some_and(|word| word.parse::<u32>().is_ok());
        // Later versions end with means and percentiles of the iterations.
        if !is_row {
            return Ok(());
        }
        if ![FIELDS, FIELDS_VERBOSE].contains(&words.len()) {
            let wanted = format!("{FIELDS}, or {FIELDS_VERBOSE} with -v");
            return Err(Fault::fields(format!("line {at}"), words.len(), wanted).hint(HINT));
        }
        let wrong = |word: &str| Fault::value(format!("line {at}"), word, "a figure from 0");
        let count = |word: &str| -> Result<u64, Fault> {
            let count: Option<i64> = word.parse().ok();
            let count = count.and_then(|count| u64::try_from(count).ok());
            count.ok_or_else(|| wrong(word).hint(HINT))
        };
        let files_in_all = count(words[1])?;
        let before = self.rows.last().map_or(0, |row| row.files_in_all);
        let files = files_in_all.checked_sub(before).filter(|files| *files > 0);
        let files = files.ok_or_else(|| {
            let wanted = format!("a count of files above {before}, as in the line before");
            Fault::value(format!("line {at}"), words[1], wanted)
        })?;
        let times: Vec<u64> = words[FIELDS..]
            .iter()
            .map(|word| count(word))
            .collect::<Result<_, _>>()?;
        let (calls, _) = times.as_chunks::<3>();
        self.rows.push(Row {
            files_in_all,
            files,
            size: count(words[2])?,
            files_per_s: number(words[3]).ok_or_else(|| wrong(words[3]).hint(HINT))?,
            overhead_us: count(words[4])?,
            calls: calls.to_vec(),
        });
        Ok(())
    }

    /// Keeps a setting that a line before the table states.
    fn setting(&mut self, line: &str) {
        let line = line.trim_start_matches('#').trim_start();
        let mut keep = |name: &str, value: serde_json::Value| {
            self.parameters.insert(name.to_owned(), value);
        };
        if let Some(method) = line.strip_prefix("Sync method: ") {
            let name = method.split_once(':').map_or(method, |(name, _)| name);
            keep("sync", name.into());
        } else if let Some(directories) = line.strip_prefix("Directories: ") {
            let mut words = directories.split_whitespace();
            let count = words.by_ref().skip_while(|word| *word != "across").nth(1);
            if let Some(count) = count.and_then(|count| count.parse::<u32>().ok()) {
                keep("directories", count.into());
            }
        } else if let Some(rest) = line.strip_prefix("Files info: size ") {
            let words: Vec<&str> = rest.split_whitespace().collect();
            for (name, at) in [("file_size", 0), ("io_size", 8)] {
                let value = words.get(at).and_then(|word| word.parse::<u32>().ok());
                if let Some(value) = value {
                    keep(name, value.into());
                }
            }
        }
    }

    fn trials(self) -> Vec<Measured> {
        let phases = self.rows.iter().map(|row| self.phases(row));
        let lists: Vec<Vec<PhaseRecord>> = match self.keeps {
            true => vec![phases.flatten().collect()],
            false => phases.collect(),
        };
        let trial = |(number, phases): (usize, Vec<PhaseRecord>)| Measured {
            phases,
            stamp: Some(format!("{}, iteration {number}", self.started)),
            ..Measured::default()
        };
        (0..).zip(lists).map(trial).collect()
    }

    fn phases(&self, row: &Row) -> Vec<PhaseRecord> {
        let mut whole = self.draft("fs_mark", PhaseKind::Write, Headline::OperationRate, row);
        put(&mut whole, &OPERATION_RATE, row.files_per_s);
        put(&mut whole, &OPERATIONS, row.files as f64);
        put(
            &mut whole,
            &BYTES,
            row.files.saturating_mul(row.size) as f64,
        );
        whole.notes.push(format!(
            "fs_mark itself took {} us between its calls, which are in the rate.",
            row.overhead_us
        ));
        let mut phases = vec![whole];
        for ((call, kind), [min, mean, max]) in CALLS.iter().zip(&row.calls) {
            if *max == 0 {
                continue;
            }
            let name = format!("fs_mark-{call}");
            let headline = Headline::Figure(&LATENCY_MAX);
            let mut record = self.draft(&name, *kind, headline, row);
            put(&mut record, &LATENCY_MAX, *max as f64 * NS_PER_US);
            record.notes.push(format!(
                "The mean time of {call} is {mean} us, the smallest is {min} us."
            ));
            phases.push(record);
        }
        phases
    }

    fn draft(&self, name: &str, kind: PhaseKind, headline: Headline, row: &Row) -> PhaseRecord {
        let mut parameters = self.parameters.clone();
        let mut point = None;
        if self.keeps {
            parameters.insert("files_in_all".to_owned(), row.files_in_all.into());
            let value = PointValue::Count(row.files_in_all);
            point = Some(Point::from_iter([("files_in_all".to_owned(), value)]));
        }
        Draft {
            name: match self.keeps {
                true => format!("{name} {}", row.files_in_all),
                false => name.to_owned(),
            },
            workload: "fs_mark".to_owned(),
            kind,
            headline,
            parameters,
            swept: point.map(|point| Swept {
                phase: name.to_owned(),
                point,
            }),
        }
        .record()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lines_of_fs_mark_are_marks() {
        for line in [
            "#\tVersion 3.3, 2 thread(s) starting at Mon Jan  5 10:00:00 2026",
            "FSUse%        Count         Size    Files/sec     App Overhead",
            "#FSUse%        Count         Size    Files/sec     App Overhead",
        ] {
            assert!(is_mark(line), "{line}");
        }
        for other in ["Version 3.3, 2", "FSUse% Count", "#  fs_mark  -d  a"] {
            assert!(!is_mark(other), "{other}");
        }
        assert_eq!(command_of("#  ./fs_mark  -d  a  -k "), Some("-d  a  -k "));
        assert_eq!(command_of("#  other  -d  a"), None);
    }
}
