//! What a personality defines: sets of files, and processes with threads and their operations.

use std::collections::BTreeMap;

use super::words::number;
use crate::problem::{JobFileProblem, shown};

/// A value of an attribute or a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Given {
    Text(String),
    /// A random variable with its parameters, as texts.
    Random(BTreeMap<String, String>),
}

/// Attributes of a definition or an operation, with the line of the first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Attributes {
    pub(super) line: u32,
    /// The kind of definition, or the name of the operation.
    pub(super) head: String,
    pub(super) values: BTreeMap<String, Option<Given>>,
}

/// A thread of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ThreadDefinition {
    pub(super) attributes: Attributes,
    pub(super) operations: Vec<Attributes>,
}

/// A process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ProcessDefinition {
    pub(super) attributes: Attributes,
    pub(super) threads: Vec<ThreadDefinition>,
}

/// A personality.
#[derive(Clone, Debug, Default)]
pub(super) struct Script {
    /// Files and sets of files, by name.
    pub(super) files: BTreeMap<String, Attributes>,
    pub(super) processes: Vec<ProcessDefinition>,
    /// Seconds of `run`; `Some(None)` without a number, `None` without `run`.
    pub(super) run_s: Option<Option<u64>>,
    /// `set mode quit firstdone`.
    pub(super) ends_with_first: bool,
}

/// Seconds of a personality without a number at `run`, as those that ship have it.
const RUN_S: u64 = 60;

impl Script {
    /// Seconds that it runs, if it runs by time.
    pub(super) fn seconds(&self) -> u64 {
        self.run_s.flatten().unwrap_or(RUN_S)
    }
}

impl Attributes {
    pub(super) fn problem(&self, cause: impl Into<String>) -> JobFileProblem {
        let problem = JobFileProblem::new(self.head.clone(), cause).at(self.line);
        match self.text("name") {
            Some(name) => problem.within(name),
            None => problem,
        }
    }

    pub(super) fn text(&self, name: &str) -> Option<&str> {
        match self.values.get(name) {
            Some(Some(Given::Text(text))) => Some(text),
            _ => None,
        }
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    /// A number; `None` if it is not given.
    pub(super) fn number(&self, name: &str) -> Result<Option<u64>, JobFileProblem> {
        match self.values.get(name) {
            None => Ok(None),
            Some(Some(Given::Text(text))) => match number(text) {
                Ok(number) => Ok(Some(number)),
                Err(cause) => Err(self.problem(format!("{name}: {cause}"))),
            },
            Some(_) => Err(self.problem(format!("{name} is no number"))),
        }
    }

    pub(super) fn number_or(&self, name: &str, default: u64) -> Result<u64, JobFileProblem> {
        Ok(self.number(name)?.unwrap_or(default))
    }

    /// True for `name`, `name=true` and `name=1`.
    pub(super) fn truth(&self, name: &str) -> Result<bool, JobFileProblem> {
        match self.values.get(name) {
            None => Ok(false),
            Some(None) => Ok(true),
            Some(Some(Given::Text(text))) => match text.as_str() {
                "true" | "1" => Ok(true),
                "false" | "0" => Ok(false),
                other => Err(self.problem(format!("{name}: '{}' is no truth value", shown(other)))),
            },
            Some(Some(Given::Random(_))) => Err(self.problem(format!("{name} is random"))),
        }
    }

    /// Percent of the files that exist at the start: `prealloc` alone is all of them.
    pub(super) fn present_percent(&self) -> Result<u64, JobFileProblem> {
        match self.values.get("prealloc") {
            None => Ok(0),
            Some(None) => Ok(100),
            Some(_) => match self.number("prealloc")? {
                Some(percent @ 0..=100) => Ok(percent),
                _ => Err(self.problem("prealloc is no percentage")),
            },
        }
    }
}
