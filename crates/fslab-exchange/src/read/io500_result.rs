//! `result.txt` of IO500: a section for each phase, with its command, its score and the reasons
//! why it is not valid.

use std::collections::BTreeMap;

use super::io500::{Execution, HINT, origin};
use super::io500_phase::{Scored, TIMESTAMP, parameters};
use crate::error::Fault;
use crate::reading::number;

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
