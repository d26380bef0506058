//! `result.txt` of IO500: a section for each phase, with its command, its score and the reasons
//! why it is not valid.
//!
//! The score of a phase is a bandwidth in GiB/s if IOR measured it, otherwise a rate in thousands
//! a second.

use std::collections::BTreeMap;

use fslab_model::definitions::{ELAPSED, OPERATION_RATE, THROUGHPUT};
use fslab_model::{Headline, MetricDefinition, Parameters, PhaseKind, PhaseOutcome, PhaseRecord};
use serde_json::Value;

use super::command_line::CommandLine;
use super::ior_options::{FILE_EACH, ONE_FILE};
use super::mdtest;
use super::origin::Origin;
use crate::error::Fault;
use crate::reading::{Draft, Measured, number, plain_name};

/// Beginnings of sections with figures.
const PHASES: [&str; 5] = ["[ior-", "[mdtest-", "[find", "[mdworkbench-", "[SCORE"];
/// Facts of the section `run`.
const RUN_FACTS: [(&str, &str); 3] = [
    ("mode", "io500 mode"),
    ("config-hash", "io500 config hash"),
    ("result-dir", "io500 directory"),
];
/// Reasons that are kept of a phase, and of a run.
const REASONS_MAX: usize = 8;

pub(super) fn is_mark(line: &str) -> bool {
    let is_section = line.ends_with(']') && !line.contains(' ');
    is_section && PHASES.iter().any(|start| line.starts_with(start))
}

#[derive(Default)]
struct Section<'t> {
    line: usize,
    name: &'t str,
    values: BTreeMap<&'t str, (usize, &'t str)>,
    invalid: Vec<String>,
    /// The subject of an export of fslab.
    subject: Option<String>,
}

impl<'t> Section<'t> {
    fn text(&self, key: &str) -> Option<&'t str> {
        self.values.get(key).map(|(_, value)| *value)
    }

    /// A figure from 0.
    fn figure(&self, key: &str) -> Result<Option<f64>, Fault> {
        let Some((line, text)) = self.values.get(key) else {
            return Ok(None);
        };
        let place = format!("line {line}, {}, {key}", self.name);
        let wrong = || Fault::value(place, *text, "a figure from 0");
        number(text).map(Some).ok_or_else(wrong)
    }
}

/// Every execution in the text.
pub(super) fn executions(text: &str) -> Result<Vec<Execution>, Fault> {
    let mut runs: Vec<Vec<Section>> = Vec::new();
    for (line, content) in (1_usize..).zip(text.lines()) {
        let content = content.trim();
        let section = content
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'));
        if let Some(name) = section {
            if name == "run" || runs.is_empty() {
                runs.push(Vec::new());
            }
            if let Some(run) = runs.last_mut() {
                run.push(Section {
                    line,
                    name,
                    ..Section::default()
                });
            }
            continue;
        }
        let Some(section) = runs.last_mut().and_then(|run| run.last_mut()) else {
            continue;
        };
        if let Some(subject) = origin(content, line)? {
            section.subject = Some(subject);
        } else if let Some(reason) = content.strip_prefix("; ERROR INVALID ") {
            if section.invalid.len() < REASONS_MAX {
                section.invalid.push(reason.trim().to_owned());
            }
        } else if let Some((key, value)) = content.split_once('=')
            && !content.starts_with(';')
        {
            section.values.insert(key.trim(), (line, value.trim()));
        }
    }
    runs.iter().map(|run| execution(run)).collect()
}

fn execution(sections: &[Section]) -> Result<Execution, Fault> {
    let mut execution = Execution::default();
    let mut tasks = None;
    let mut has_score = false;
    for section in sections {
        match section.name {
            "run" => {
                execution.version = section.text("version").map(str::to_owned);
                execution.measured.subject.clone_from(&section.subject);
                tasks = procs(section)?;
                execution.invalid.extend(section.invalid.iter().cloned());
                for (key, fact) in RUN_FACTS {
                    let value = section
                        .text(key)
                        .map(|value| (fact.to_owned(), value.to_owned()));
                    execution.measured.facts.extend(value);
                }
            }
            "SCORE" => {
                score(&mut execution, section, "io500")?;
                has_score = true;
            }
            "SCOREX" => score(&mut execution, section, "io500 extended")?,
            TIMESTAMP => {}
            _ => phase(&mut execution, section, tasks)?,
        }
    }
    let starts = sections
        .iter()
        .filter_map(|section| section.text("t_start"));
    execution.measured.stamp = starts.map(str::to_owned).next();
    match (has_score, sections.last()) {
        (false, Some(last)) => {
            let missing = "the section [SCORE] is not there";
            Err(
                Fault::truncated(format!("line {}, [{}]", last.line, last.name), missing)
                    .hint(HINT),
            )
        }
        _ => Ok(execution),
    }
}

fn procs(section: &Section) -> Result<Option<u64>, Fault> {
    let Some((line, text)) = section.values.get("procs") else {
        return Ok(None);
    };
    let procs = text.parse::<u32>().ok().filter(|procs| *procs > 0);
    let wrong = || {
        Fault::value(
            format!("line {line}, procs"),
            *text,
            "a number of processes",
        )
    };
    procs.map(|procs| Some(u64::from(procs))).ok_or_else(wrong)
}

fn phase(execution: &mut Execution, section: &Section, tasks: Option<u64>) -> Result<(), Fault> {
    let place = format!("line {}, [{}]", section.line, section.name);
    let score = section.figure("score")?;
    let score = score.ok_or_else(|| Fault::truncated(&*place, "it has no score").hint(HINT))?;
    let command = section.text("exe").unwrap_or_default();
    let record = Scored {
        name: section.name,
        score,
        time_s: section.figure("t_delta")?,
        is_of_script: false,
        invalid: section.invalid.clone(),
        parameters: parameters(section.name, command, tasks),
    };
    let record = record.record();
    let phases = &mut execution.measured.phases;
    if phases.iter().any(|known| known.name == record.name) {
        return Err(Fault::value(
            place,
            section.name,
            "a section that occurs once",
        ));
    }
    phases.push(record);
    Ok(())
}

fn score(execution: &mut Execution, section: &Section, tag: &str) -> Result<(), Fault> {
    let place = format!("line {}, [{}]", section.line, section.name);
    for (key, name) in [
        ("BW", "bandwidth in GiB/s"),
        ("MD", "rate in kIOPS"),
        ("SCORE", "score"),
    ] {
        let missing = || Fault::truncated(&*place, format!("it has no {key}")).hint(HINT);
        let (line, text) = section.values.get(key).ok_or_else(missing)?;
        let value = text.split_whitespace().next().unwrap_or_default();
        if number(value).is_none() {
            return Err(Fault::value(
                format!("line {line}, {key}"),
                *text,
                "a score",
            ));
        }
        let facts = &mut execution.measured.facts;
        facts.insert(format!("{tag} {name}"), value.to_owned());
        if text.contains("[INVALID]") {
            facts.insert(format!("{tag} validity"), "invalid".to_owned());
            execution.invalid.push(format!("{} {text}", section.name));
        }
    }
    // It is the last line of the section: without it the score may be cut off.
    match section.values.contains_key("hash") {
        true => Ok(()),
        false => Err(Fault::truncated(place, "it has no hash").hint(HINT)),
    }
}

/// The phase that only writes down the time.
pub(super) const TIMESTAMP: &str = "timestamp";

/// Bytes of a GiB.
const GIB: f64 = 1_073_741_824.0;

/// What IO500 gives of a phase.
pub(super) struct Scored<'t> {
    pub(super) name: &'t str,
    pub(super) score: f64,
    /// With preparation and end, unless a script printed it.
    pub(super) time_s: Option<f64>,
    /// True if a script of 2018 to 2020 printed it.
    pub(super) is_of_script: bool,
    /// Why the phase is not valid.
    pub(super) invalid: Vec<String>,
    pub(super) parameters: Parameters,
}

/// True if IOR measures the phase.
pub(super) fn is_of_data(name: &str) -> bool {
    name.starts_with("ior")
}

impl Scored<'_> {
    pub(super) fn record(self) -> PhaseRecord {
        // The scripts up to 2020 have names like `ior_easy_write`.
        let name = plain_name(self.name).replace('_', "-");
        let is_of_data = is_of_data(&name);
        let (metric, headline, value): (&MetricDefinition, _, f64) = match is_of_data {
            true => (&THROUGHPUT, Headline::Throughput, self.score * GIB),
            // It is printed with six decimals, which the product keeps.
            false => (
                &OPERATION_RATE,
                Headline::OperationRate,
                (self.score * 1e9).round() / 1e6,
            ),
        };
        let kind = match (is_of_data, name.ends_with("-write")) {
            (true, true) => PhaseKind::Write,
            (true, false) => PhaseKind::Read,
            (false, _) => PhaseKind::Metadata,
        };
        let draft = Draft {
            name,
            workload: "io500".to_owned(),
            kind,
            headline,
            parameters: self.parameters,
            swept: None,
        };
        let mut record = draft.record();
        let invalid = self.invalid.iter();
        record.notes = invalid
            .map(|mark| format!("IO500: invalid: {mark}"))
            .collect();
        if self.score == 0.0 {
            record.outcome = PhaseOutcome::Skipped {
                reason: "IO500 gives it a score of 0".to_owned(),
            };
            return record;
        }
        record.figures.insert(metric.name.to_owned(), value);
        if let Some(seconds) = self.time_s.filter(|seconds| *seconds > 0.0) {
            record
                .figures
                .insert(ELAPSED.name.to_owned(), (seconds * 1e9).round());
            if !self.is_of_script {
                let note = "Its time is that of the entire phase, with preparation and end; the \
                            score is of the time that IOR, mdtest or find measured.";
                record.notes.push(note.to_owned());
            }
        }
        record
    }
}

/// The parameters of a phase, of the command that IO500 gives it.
pub(super) fn parameters(name: &str, command: &str, tasks: Option<u64>) -> Parameters {
    let mut parameters = Parameters::new();
    let mut set = |name: &str, value: Option<Value>| {
        value.map(|value| parameters.insert(name.to_owned(), value))
    };
    set("tasks", tasks.map(Value::from));
    let line = CommandLine::of(command);
    if is_of_data(name) && !command.is_empty() {
        set("api", line.value("-a").map(Value::from));
        let access = if line.has("-F") { FILE_EACH } else { ONE_FILE };
        set("access", Some(access.into()));
        let order = if line.has("-z") {
            "random"
        } else {
            "sequential"
        };
        set("order", Some(order.into()));
        set("segments", line.count("-s").or(Some(1)).map(Value::from));
        set("transfer_size", line.bytes("-t").map(Value::from));
        set("block_size", line.bytes("-b").map(Value::from));
        let offset = if line.has("-C") {
            line.count("-Q").or(Some(1))
        } else {
            Some(0)
        };
        set("task_offset", offset.map(Value::from));
        set("fsync", Some(line.has("-e").into()));
        set("stonewall_s", line.count("-D").map(Value::from));
        let wears_out = line
            .directive("stoneWallingWearOut")
            .map(|value| value != "0");
        set("wear_out", wears_out.map(Value::from));
    }
    if name.starts_with("mdtest") && !command.is_empty() {
        let items = line.count("-n").zip(tasks);
        let items = items.and_then(|(items, tasks)| items.checked_mul(tasks));
        set("items", items.map(Value::from));
        mdtest::put_parameters(command, &mut parameters);
    }
    parameters
}

/// What to give instead of another file of IO500.
pub(super) const HINT: &str =
    "import result.txt or result_summary.txt of a complete run of IO500, not its configuration";

/// One execution of IO500.
#[derive(Debug, Default)]
pub(super) struct Execution {
    pub(super) version: Option<String>,
    pub(super) measured: Measured,
    /// The marks of an invalid run.
    pub(super) invalid: Vec<String>,
}

/// The subject in a comment of an export of fslab; `None` if the line is none.
pub(super) fn origin(line: &str, number: usize) -> Result<Option<String>, Fault> {
    let text = line
        .strip_prefix("; ")
        .and_then(|text| text.strip_prefix(Origin::MARK));
    let origin = text.map(|text| Origin::of(format!("line {number}"), text));
    Ok(origin.transpose()?.map(|origin| origin.subject))
}
