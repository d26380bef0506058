//! The sections of a job file, with the options of `[global]` before those of each.

use crate::problem::{Findings, JobFileProblem, shown};
use crate::reading::{JobFileReader, VARIABLE_PREFIX};

/// A line `name=value`, or `name`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OptionLine {
    pub(crate) line: u32,
    pub(crate) name: String,
    /// `None` without `=`.
    pub(crate) value: Option<String>,
    /// The section, or the included file, in which it stands.
    pub(crate) place: String,
}

impl OptionLine {
    /// As it stands in the file.
    pub(crate) fn text(&self) -> String {
        match &self.value {
            Some(value) => format!("{}={value}", self.name),
            None => self.name.clone(),
        }
    }

    /// A problem with it.
    pub(crate) fn problem(&self, cause: impl Into<String>) -> JobFileProblem {
        (JobFileProblem::new(self.text(), cause).at(self.line)).within(&self.place)
    }
}

/// A job of the file, with all its options in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Section {
    pub(crate) name: String,
    pub(crate) line: u32,
    pub(crate) options: Vec<OptionLine>,
}

/// Limit of sections.
const SECTIONS_MAX: usize = 1_000;
/// Limit of the options of a section, with those of `[global]`.
const OPTIONS_MAX: usize = 1_000;
/// Limit of included files.
const INCLUDED_MAX: u32 = 16;

/// The jobs of `text`.
pub(crate) fn sections(
    reader: &JobFileReader<'_>,
    text: &str,
    findings: &mut Findings,
) -> Vec<Section> {
    let mut parser = Parser {
        reader,
        findings,
        global: Vec::new(),
        sections: Vec::new(),
        current: Current::None,
        included: 0,
    };
    parser.parse(text, None);
    if parser.sections.is_empty() {
        let problem = JobFileProblem::new(reader.file, "it has no job")
            .hint("a job is a section, for example [read] with rw=read and size=1g");
        parser.findings.refuse(problem);
    }
    parser.sections
}

#[derive(Clone, Copy)]
enum Current {
    None,
    Global,
    Job,
}

struct Parser<'a, 'f> {
    reader: &'a JobFileReader<'a>,
    findings: &'f mut Findings,
    global: Vec<OptionLine>,
    sections: Vec<Section>,
    current: Current,
    included: u32,
}

impl Parser<'_, '_> {
    /// Reads `text`, the job file or the file `included` at a line of it.
    fn parse(&mut self, text: &str, included: Option<(&str, u32)>) {
        for (line, text) in (1_u32..).zip(text.lines()) {
            let text = text.split([';', '#']).next().unwrap_or_default().trim();
            let line = included.map_or(line, |(_, line)| line);
            if text.is_empty() {
                continue;
            }
            if let Some(name) = text.strip_prefix('[') {
                let name = name.split(']').next().unwrap_or_default();
                match included {
                    None => self.begin(name, line),
                    Some((file, _)) => self.findings.refuse(
                        JobFileProblem::new(text, "an included file has no sections")
                            .at(line)
                            .within(file),
                    ),
                }
                continue;
            }
            match text
                .strip_prefix("include")
                .filter(|it| it.starts_with([' ', '\t']))
            {
                Some(file) => self.include(file.trim(), line, included.is_some()),
                None => self.option(text, line, included.map(|(file, _)| file)),
            }
            if self
                .options()
                .is_some_and(|options| options.len() > OPTIONS_MAX)
            {
                let cause = format!("a section with more than {OPTIONS_MAX} options");
                self.findings
                    .refuse(JobFileProblem::new(text, cause).at(line));
                return;
            }
        }
    }

    fn begin(&mut self, name: &str, line: u32) {
        if name.starts_with("global") {
            self.current = Current::Global;
            return;
        }
        self.current = Current::Job;
        if self.sections.len() == SECTIONS_MAX {
            let cause = format!("more than {SECTIONS_MAX} sections");
            self.findings
                .refuse(JobFileProblem::new(name, cause).at(line));
            return;
        }
        self.sections.push(Section {
            name: name.to_owned(),
            line,
            options: self.global.clone(),
        });
    }

    /// The options of the section that is read.
    fn options(&mut self) -> Option<&mut Vec<OptionLine>> {
        match self.current {
            Current::None => None,
            Current::Global => Some(&mut self.global),
            Current::Job => self.sections.last_mut().map(|section| &mut section.options),
        }
    }

    fn place(&self) -> String {
        match self.current {
            Current::None | Current::Global => "global".to_owned(),
            Current::Job => self
                .sections
                .last()
                .map_or_else(String::new, |it| it.name.clone()),
        }
    }

    fn option(&mut self, text: &str, line: u32, included: Option<&str>) {
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name.trim(), Some(value.trim())),
            None => (text, None),
        };
        let place = included.map_or_else(|| self.place(), str::to_owned);
        let mut option = OptionLine {
            line,
            name: name.to_owned(),
            value: value.map(str::to_owned),
            place,
        };
        match value.map(|value| self.expanded(value)).transpose() {
            Ok(expanded) => option.value = expanded,
            Err((cause, hint)) => {
                let problem = option.problem(cause).hint(hint);
                self.findings.refuse(problem);
                return;
            }
        }
        match self.options() {
            Some(options) => options.push(option),
            None => self
                .findings
                .refuse(JobFileProblem::new(text, "an option before the first section").at(line)),
        }
    }

    /// `value` with the variables that the user gave.
    fn expanded(&self, value: &str) -> Result<String, (String, String)> {
        let mut expanded = String::new();
        let mut rest = value;
        while let Some((before, after)) = rest.split_once("${") {
            let Some((name, after)) = after.split_once('}') else {
                break;
            };
            expanded.push_str(before);
            match self.reader.variables.get(name) {
                Some(value) => expanded.push_str(value),
                None => {
                    let cause = format!("the variable {} has no value", shown(name));
                    let hint = format!(
                        "give it one: --set {VARIABLE_PREFIX}{}=VALUE; fslab takes none from the \
                         environment",
                        shown(name)
                    );
                    return Err((cause, hint));
                }
            }
            rest = after;
        }
        expanded.push_str(rest);
        for word in ["$pagesize", "$mb_memory", "$ncpus"] {
            if expanded.contains(word) {
                let cause = format!("{word} is another value on every machine");
                return Err((cause, "write the number".to_owned()));
            }
        }
        Ok(expanded)
    }

    fn include(&mut self, file: &str, line: u32, is_nested: bool) {
        let problem = |cause: String| JobFileProblem::new(format!("include {file}"), cause);
        self.included += 1;
        if is_nested || self.included > INCLUDED_MAX {
            let cause = format!("at most {INCLUDED_MAX} files are included, none by another");
            self.findings.refuse(problem(cause).at(line));
            return;
        }
        let is_inside = !file.starts_with('/') && file.split('/').all(|part| part != "..");
        if file.is_empty() || !is_inside {
            let cause = "only a file below the directory of the job file is included".to_owned();
            self.findings.refuse(problem(cause).at(line));
            return;
        }
        match (self.reader.include)(file) {
            Ok(text) => self.parse(&text, Some((file, line))),
            Err(cause) => self.findings.refuse(problem(cause).at(line)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::reading::JobFileKind;

    fn read(text: &str) -> (Vec<Section>, Vec<JobFileProblem>) {
        let variables = BTreeMap::from([("SIZE".to_owned(), "8m".to_owned())]);
        let include = |file: &str| match file {
            "common.inc" => Ok("bs=16k\n[x]\ninclude more.inc".to_owned()),
            _ => Err("no such file".to_owned()),
        };
        let reader = JobFileReader {
            kind: JobFileKind::Fio,
            file: "job.fio",
            variables: &variables,
            include: &include,
        };
        let mut findings = Findings::default();
        let sections = sections(&reader, text, &mut findings);
        let problems = match findings.finish(Some(())) {
            Ok(_) => Vec::new(),
            Err(error) => error.problems,
        };
        (sections, problems)
    }

    fn texts(section: &Section) -> Vec<String> {
        section.options.iter().map(OptionLine::text).collect()
    }

    #[test]
    fn a_section_has_the_global_options_before_it_and_no_comments() {
        let text = "; a job\n[global]\nbs = 4k # small\n[a]\nrw=read;x\nthread\n[global]\n\
                    size=${SIZE}\n[b]\n";
        let (sections, problems) = read(text);
        assert_eq!(problems, []);
        assert_eq!(texts(&sections[0]), ["bs=4k", "rw=read", "thread"]);
        assert_eq!(texts(&sections[1]), ["bs=4k", "size=8m"]);
        assert_eq!((sections[1].line, sections[1].options[0].line), (9, 3));
        assert_eq!(sections[1].options[0].place, "global");
    }

    #[test]
    fn variables_come_from_the_user_alone() {
        let (_, problems) = read("[a]\nsize=${HOME}\nbs=$pagesize\n");
        assert_eq!(problems[0].cause, "the variable HOME has no value");
        let hint = problems[0].hint.as_deref().expect("a hint");
        assert!(hint.contains("--set env.HOME=VALUE"), "{hint}");
        assert!(problems[1].cause.contains("another value on every machine"));
    }

    #[test]
    fn included_files_are_below_the_directory_and_have_no_sections() {
        let (sections, problems) = read("[a]\ninclude common.inc\n");
        assert_eq!(texts(&sections[0]), ["bs=16k"]);
        let causes: Vec<_> = problems.iter().map(|it| it.cause.as_str()).collect();
        assert_eq!(causes[0], "an included file has no sections");
        assert!(causes[1].contains("none by another"), "{causes:?}");
        for outside in ["/etc/passwd", "../x", "a/../../x", "missing"] {
            let (_, problems) = read(&format!("[a]\ninclude {outside}\n"));
            assert_eq!(problems.len(), 1, "{outside}");
        }
    }

    #[test]
    fn a_file_without_jobs_and_options_without_a_section_are_refused() {
        assert_eq!(read("").1[0].cause, "it has no job");
        let (_, problems) = read("bs=4k\n[a]\n");
        assert_eq!(problems[0].cause, "an option before the first section");
    }
}
