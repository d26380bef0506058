//! The text of IOR: a head, for each test its options and a table of results, a summary.

use super::ior_options::{Printed, settings};
use super::ior_test::{Access, Execution, Row, Test};
use crate::error::Fault;
use crate::reading::number;

/// Most notes of a row, and most characters of each.
const NOTES_MAX: usize = 4;
const NOTE_MAX: usize = 200;

/// The version, if `line` is the first of an output.
pub(super) fn version(line: &str) -> Option<&str> {
    let (version, rest) = line.strip_prefix("IOR-")?.split_once(':')?;
    rest.starts_with(" MPI Coordinated Test of Parallel I/O")
        .then_some(version)
}

/// Every execution in the text.
pub(super) fn executions(text: &str) -> Result<Vec<Execution>, Fault> {
    let mut done = Vec::new();
    let mut open: Option<Reader> = None;
    for (at, line) in (1_usize..).zip(text.lines()) {
        let line = line.trim();
        if let Some(version) = version(line) {
            done.extend(open.take().map(Reader::finish).transpose()?);
            open = Some(Reader::of(at, version));
        } else if let Some(reader) = &mut open {
            reader.line(at, line)?;
        }
    }
    done.extend(open.map(Reader::finish).transpose()?);
    Ok(done)
}

/// Where a line stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Part {
    #[default]
    Head,
    Options,
    Results,
    Summary,
}

/// An execution that is being read.
#[derive(Default)]
struct Reader {
    execution: Execution,
    part: Part,
    command: String,
    /// What was printed of the test that is being read.
    printed: Printed,
    columns: Vec<String>,
    /// The rows of each access in the test that is being read.
    counts: [u64; 3],
    notes: Vec<String>,
    has_summary: bool,
    has_end: bool,
}

impl Reader {
    fn of(at: usize, version: &str) -> Self {
        let execution = Execution {
            place: format!("line {at}"),
            version: version.to_owned(),
            ..Execution::default()
        };
        Self {
            execution,
            ..Self::default()
        }
    }

    fn line(&mut self, at: usize, line: &str) -> Result<(), Fault> {
        if line.starts_with("Summary of all tests") {
            self.end_test()?;
            (self.part, self.has_summary) = (Part::Summary, true);
        } else if line.starts_with("Finished") {
            self.has_end = true;
        } else if let Some(id) = test_id(line) {
            self.end_test()?;
            self.part = Part::Options;
            self.execution.tests.push(Test {
                place: format!("line {at}"),
                id: id.to_owned(),
                ..Test::default()
            });
        } else if line.starts_with("access ") && line.contains("bw(MiB/s)") {
            self.part = Part::Results;
            self.columns = line.split_whitespace().map(str::to_owned).collect();
        } else {
            match self.part {
                Part::Head => self.head(line),
                Part::Options => self.option(line),
                Part::Results => self.result(at, line)?,
                Part::Summary => {}
            }
        }
        Ok(())
    }

    fn head(&mut self, line: &str) {
        let Some((key, value)) = line.split_once(':') else {
            return;
        };
        let value = value.trim();
        match key.trim() {
            "Began" | "Run began" => self.execution.began = Some(value.to_owned()),
            "Command line" | "Command line used" => value.clone_into(&mut self.command),
            "Machine" => {
                let fact = ("ior machine".to_owned(), value.to_owned());
                self.execution.facts.extend([fact]);
            }
            _ => {}
        }
    }

    /// `xfersize            : 65536 bytes`; 3.0 has an equals sign. Before the results of each test
    /// stand its options, and with `-vvv` all of its parameters.
    fn option(&mut self, line: &str) {
        let Some((key, value)) = line.split_once([':', '=']) else {
            return;
        };
        let (key, value) = (key.trim(), value.trim());
        self.printed.insert(key.to_owned(), value.to_owned());
    }

    fn result(&mut self, at: usize, line: &str) -> Result<(), Fault> {
        let mut words: Vec<&str> = line.split_whitespace().collect();
        let access = words.first().and_then(|word| Access::named(word));
        let Some(access) = access.filter(|_| is_value(words.get(1))) else {
            let is_note = line.starts_with("stonewalling pairs") || line.starts_with("WARNING:");
            if is_note && self.notes.len() < NOTES_MAX {
                let note = line.chars().take(NOTE_MAX).collect::<String>();
                self.notes.push(format!("IOR: {note}"));
            }
            return Ok(());
        };
        let place = format!("line {at}");
        let wanted = self.columns.len();
        if access == Access::Remove && words.len() != wanted {
            // Old versions print another number of hyphens; the last two columns are the same.
            let kept = words.split_off(words.len().saturating_sub(2));
            words.resize(wanted.saturating_sub(2), "-");
            words.extend(kept);
        }
        if words.len() != wanted {
            return Err(Fault::fields(place, words.len(), wanted));
        }
        let count = &mut self.counts[access as usize];
        let iteration = words.last().copied().unwrap_or_default();
        if iteration.parse() != Ok(*count) {
            let wanted = format!("the iteration {count} of '{}'", access.name());
            return Err(Fault::value(format!("{place}, iter"), iteration, wanted));
        }
        *count += 1;
        let (mut bandwidth_mib, mut total_s) = (None, None);
        let mut besides: Vec<String> = Vec::new();
        for (column, text) in self.columns.iter().zip(&words).skip(1) {
            let value = figure(text)
                .map_err(|wanted| Fault::value(format!("{place}, {column}"), *text, wanted))?;
            match column.as_str() {
                "bw(MiB/s)" => bandwidth_mib = value,
                "total(s)" => total_s = value,
                "block(KiB)" | "xfer(KiB)" | "iter" => {}
                _ if value.is_some() => besides.push(format!("{column} {text}")),
                _ => {}
            }
        }
        let mut notes = std::mem::take(&mut self.notes);
        if !besides.is_empty() {
            notes.push(format!("IOR gives besides: {}.", besides.join(", ")));
        }
        let Some(test) = self.execution.tests.last_mut() else {
            return Err(Fault::missing(place, "TestID"));
        };
        test.rows.push(Row {
            access,
            bandwidth_mib,
            total_s,
            notes,
        });
        Ok(())
    }

    fn end_test(&mut self) -> Result<(), Fault> {
        let printed = std::mem::take(&mut self.printed);
        self.counts = [0; 3];
        self.notes.clear();
        let Some(test) = self.execution.tests.last_mut() else {
            return Ok(());
        };
        if self.part == Part::Summary {
            return Ok(());
        }
        let settings = settings(&test.place, &printed, &self.command)?;
        test.parameters = settings.parameters;
        test.repetitions = settings.repetitions;
        test.asked = settings.asked;
        for (key, fact) in [("test filename", "ior file"), ("Path", "ior path")] {
            if let Some(value) = printed.get(key) {
                let known = self.execution.facts.entry(fact.to_owned());
                known.or_insert_with(|| value.clone());
            }
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Execution, Fault> {
        self.end_test()?;
        if self.has_summary && !self.has_end {
            let missing = "the line 'Finished' is not there";
            return Err(Fault::truncated(self.execution.place, missing));
        }
        self.execution.has_end = self.has_end;
        let facts = &mut self.execution.facts;
        if !self.command.is_empty() {
            facts.insert("ior command".to_owned(), self.command);
        }
        let tool = self.execution.tool();
        self.execution.facts.insert("ior".to_owned(), tool);
        Ok(self.execution)
    }
}

/// The number of the test that begins with `line`.
fn test_id(line: &str) -> Option<&str> {
    if let Some((key, id)) = line.split_once(':')
        && key.trim() == "TestID"
    {
        return Some(id.trim());
    }
    let (id, rest) = line.strip_prefix("Test ")?.split_once(' ')?;
    let is_start = rest.starts_with("started:") && id.bytes().all(|byte| byte.is_ascii_digit());
    is_start.then_some(id)
}

/// True for a word that stands where a figure does. A line of progress may begin with `read`, too.
fn is_value(word: Option<&&str>) -> bool {
    word.is_some_and(|word| {
        let first = word.trim_start_matches('-').chars().next();
        first.is_none_or(|c| c.is_ascii_digit()) || ["inf", "nan", "-nan"].contains(word)
    })
}

/// A figure; `None` for what IOR does not give, and for what took no time of its clock.
fn figure(text: &str) -> Result<Option<f64>, &'static str> {
    match text {
        "-" | "inf" => Ok(None),
        text => number(text).map(Some).ok_or("a figure from 0"),
    }
}
