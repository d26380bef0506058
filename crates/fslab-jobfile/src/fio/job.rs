//! A section with its options applied.

use std::collections::BTreeMap;

use fslab_model::{did_you_mean, nearest_name};

use super::options::{self, FioRule, fio_options};
use super::sections::{OptionLine, Section};
use super::settings::FioSettings;
use crate::problem::{Findings, JobFileProblem, shown};

/// A job of the file.
#[derive(Clone, Debug)]
pub(crate) struct FioJob {
    pub(crate) name: String,
    line: u32,
    pub(crate) settings: FioSettings,
    /// The last line of each option.
    lines: BTreeMap<&'static str, OptionLine>,
}

impl FioJob {
    /// The job of `section`; what cannot be used of it goes to `findings`.
    pub(crate) fn new(section: &Section, findings: &mut Findings) -> Self {
        let mut job = Self {
            name: section.name.clone(),
            line: section.line,
            settings: FioSettings::default(),
            lines: BTreeMap::new(),
        };
        for option in &section.options {
            if let Some(known) = options::find(&option.name) {
                job.lines.insert(known.name, option.clone());
            }
        }
        let mut unknown = Vec::new();
        let mut has_engine = true;
        for option in &section.options {
            let Some(known) = options::find(&option.name) else {
                unknown.push(option);
                continue;
            };
            // A later line replaces one of [global]; a part of a list of directions does not.
            let is_last = job.lines.get(known.name) == Some(option);
            if !is_last && !["bs", "rate", "rate_iops"].contains(&known.name) {
                continue;
            }
            let value = option.value.as_deref().unwrap_or("1");
            match known.rule {
                FioRule::Translated(translation) => {
                    if let Err(cause) = (translation.setter)(&mut job.settings, value) {
                        has_engine &= known.name != "ioengine";
                        findings.refuse(option.problem(cause));
                    }
                }
                FioRule::Ignored(why) => findings.note(note(option, why)),
                FioRule::Neutral(values, _) if values.contains(&value) => {}
                FioRule::Neutral(_, why) | FioRule::Refused(why) => {
                    findings.refuse(option.problem(why));
                }
            }
        }
        // Options of an engine that is refused would only repeat that.
        for option in unknown.into_iter().filter(|_| has_engine) {
            findings.refuse(unknown_option(option));
        }
        job
    }

    /// A problem with the option `name`, or with the section that does not have it.
    pub(crate) fn problem(&self, name: &str, cause: impl Into<String>) -> JobFileProblem {
        match self.lines.get(name) {
            Some(option) => option.problem(cause),
            None => JobFileProblem::new(name, cause)
                .at(self.line)
                .within(&self.name),
        }
    }

    /// A note about the job.
    pub(crate) fn note(&self, name: &str, why: &str) -> String {
        match self.lines.get(name) {
            Some(option) => note(option, why),
            None => format!("[{}] {why}", shown(&self.name)),
        }
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.lines.contains_key(name)
    }
}

fn note(option: &OptionLine, why: &str) -> String {
    format!(
        "[{}] {}: {why}",
        shown(&option.place),
        shown(&option.text())
    )
}

fn unknown_option(option: &OptionLine) -> JobFileProblem {
    let names = fio_options().map(|it| it.name);
    let problem = option.problem("no option that fslab knows of fio");
    match nearest_name(&option.name, names) {
        Some(nearest) => problem.hint(did_you_mean(nearest)),
        None => problem,
    }
}
