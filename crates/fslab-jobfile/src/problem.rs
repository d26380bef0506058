//! What of a job file cannot be used, with its place.

use std::fmt;

/// One thing that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobFileProblem {
    /// Line of the file, from 1; `None` for what no line names.
    pub line: Option<u32>,
    /// The section, the included file, or the definition.
    pub section: Option<String>,
    /// The option with its value, or the statement.
    pub option: String,
    /// Why it cannot be used.
    pub cause: String,
    /// What the user can do.
    pub hint: Option<String>,
}

impl JobFileProblem {
    pub(crate) fn new(option: impl Into<String>, cause: impl Into<String>) -> Self {
        Self {
            line: None,
            section: None,
            option: option.into(),
            cause: cause.into(),
            hint: None,
        }
    }

    pub(crate) fn at(self, line: u32) -> Self {
        let line = Some(line);
        Self { line, ..self }
    }

    pub(crate) fn within(self, section: &str) -> Self {
        let section = Some(shown(section));
        Self { section, ..self }
    }

    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        let hint = Some(hint.into());
        Self { hint, ..self }
    }
}

impl fmt::Display for JobFileProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        if let Some(section) = &self.section {
            write!(f, "[{section}] ")?;
        }
        write!(f, "{}: {}", shown(&self.option), self.cause)?;
        match &self.hint {
            Some(hint) => write!(f, " ({hint})"),
            None => Ok(()),
        }
    }
}

/// Longest quotation of a file in a message.
const SHOWN_CHARS_MAX: usize = 120;

/// A text of the file for a message: short, and without control characters.
pub(crate) fn shown(text: &str) -> String {
    let short: String = text.chars().take(SHOWN_CHARS_MAX).collect();
    let more = if text.chars().nth(SHOWN_CHARS_MAX).is_some() {
        "..."
    } else {
        ""
    };
    format!("{}{more}", short.escape_debug())
        .replace("\\\"", "\"")
        .replace("\\'", "'")
}

/// Everything in a job file that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", counted(self.problems.len()))]
pub struct JobFileError {
    /// At least one, in the order of the file.
    pub problems: Vec<JobFileProblem>,
}

fn counted(problems: usize) -> String {
    match problems {
        1 => "1 thing in it cannot be used".to_owned(),
        more => format!("{more} things in it cannot be used"),
    }
}

/// Collects problems, each once, and what is left out.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    problems: Vec<JobFileProblem>,
    notes: Vec<String>,
}

/// Limit of what is listed; a file with more is still refused.
const LISTED_MAX: usize = 200;

impl Findings {
    /// True if the value of an option was refused, in any section.
    pub(crate) fn has_refused(&self, option: &str) -> bool {
        let names = |problem: &JobFileProblem| {
            let name = problem.option.split_once('=').map(|(name, _)| name);
            name.is_some_and(|name| name.trim() == option)
        };
        self.problems.iter().any(names)
    }

    pub(crate) fn refuse(&mut self, problem: JobFileProblem) {
        let same = |known: &JobFileProblem| {
            known.line.is_some() && (known.line, &known.cause) == (problem.line, &problem.cause)
        };
        if self.problems.len() < LISTED_MAX && !self.problems.iter().any(same) {
            self.problems.push(problem);
        }
    }

    pub(crate) fn note(&mut self, note: String) {
        if self.notes.len() < LISTED_MAX && !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// Number of problems so far.
    pub(crate) fn refused(&self) -> usize {
        self.problems.len()
    }

    pub(crate) fn is_refused(&self) -> bool {
        !self.problems.is_empty()
    }

    /// The value that was made and the notes, unless something was refused.
    pub(crate) fn finish<T>(mut self, made: Option<T>) -> Result<(T, Vec<String>), JobFileError> {
        self.problems.sort_by_key(|problem| problem.line);
        match made {
            Some(made) if self.problems.is_empty() => Ok((made, self.notes)),
            _ => Err(JobFileError {
                problems: self.problems,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_names_place_option_cause_and_hint_without_control_characters() {
        let problem = JobFileProblem::new("bs=4q\u{1b}", "no size")
            .at(3)
            .within("a")
            .hint("write 4k");
        let text = problem.to_string();
        assert_eq!(text, "line 3: [a] bs=4q\\u{1b}: no size (write 4k)");
    }

    #[test]
    fn a_problem_of_a_line_is_listed_once_and_all_are_in_the_order_of_lines() {
        let mut findings = Findings::default();
        for line in [7, 2, 7] {
            findings.refuse(JobFileProblem::new("x", "bad").at(line));
        }
        let error = findings.finish(Some(())).expect_err("refused");
        let lines: Vec<_> = error.problems.iter().map(|it| it.line).collect();
        assert_eq!(lines, [Some(2), Some(7)]);
        assert_eq!(error.to_string(), "2 things in it cannot be used");
    }
}
