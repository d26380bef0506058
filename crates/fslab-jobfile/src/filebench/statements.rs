//! Reads the statements of a personality.

use std::collections::BTreeMap;

use super::script::{Attributes, Given, ProcessDefinition, Script, ThreadDefinition};
use super::words::{Word, number, words};
use crate::problem::{Findings, JobFileProblem, shown};
use crate::reading::JobFileReader;

/// The personality in `text`; what cannot be read goes to `findings`.
pub(super) fn script(reader: &JobFileReader<'_>, text: &str, findings: &mut Findings) -> Script {
    let words = match words(text) {
        Ok(words) => words,
        Err((line, cause)) => {
            findings.refuse(JobFileProblem::new(reader.file, cause).at(line));
            return Script::default();
        }
    };
    let given = reader.variables.iter();
    let variables = given
        .map(|(name, value)| (format!("${name}"), Given::Text(value.clone())))
        .collect();
    let mut statements = Statements {
        words: &words,
        at: 0,
        variables,
        fixed: reader.variables,
        script: Script::default(),
    };
    while statements.at < words.len() {
        if let Err(problem) = statements.statement(findings) {
            findings.refuse(problem);
            break;
        }
    }
    statements.script
}

struct Statements<'a> {
    words: &'a [Word],
    at: usize,
    variables: BTreeMap<String, Given>,
    /// Variables that the user gave: a `set` does not change them.
    fixed: &'a BTreeMap<String, String>,
    script: Script,
}

type Read<T> = Result<T, JobFileProblem>;

/// Words that begin a statement.
const STATEMENTS: &[&str] = &[
    "set",
    "define",
    "eventgen",
    "echo",
    "run",
    "psrun",
    "create",
    "sleep",
    "system",
    "debug",
    "version",
    "quit",
    "usage",
    "enable",
    "list",
    "domultisync",
];

impl<'a> Statements<'a> {
    fn peek(&self) -> &'a str {
        self.words.get(self.at).map_or("", |word| &word.text)
    }

    fn line(&self) -> u32 {
        let at = self.at.min(self.words.len().saturating_sub(1));
        self.words.get(at).map_or(1, |word| word.line)
    }

    fn next(&mut self) -> &'a str {
        let word = self.peek();
        self.at += 1;
        word
    }

    fn problem(&self, cause: impl Into<String>) -> JobFileProblem {
        JobFileProblem::new(self.peek(), cause).at(self.line())
    }

    fn expect(&mut self, sign: &str) -> Read<()> {
        match self.peek() == sign {
            true => {
                self.at += 1;
                Ok(())
            }
            false => Err(self.problem(format!("'{sign}' is expected here"))),
        }
    }

    fn takes(&mut self, sign: &str) -> bool {
        let is_it = self.peek() == sign;
        self.at += usize::from(is_it);
        is_it
    }

    fn statement(&mut self, findings: &mut Findings) -> Read<()> {
        let line = self.line();
        let word = self.next();
        match word {
            "set" => self.set(),
            "define" => self.define(findings),
            "eventgen" => {
                let attributes = self.attributes("eventgen", line)?;
                if attributes.number_or("rate", 0)? > 0 {
                    let cause = "fslab's personalities have no rate of events";
                    findings.refuse(attributes.problem(cause).hint("use eventgen rate=0"));
                }
                Ok(())
            }
            "run" | "psrun" => {
                let given = match self.peek() {
                    "" => None,
                    word if STATEMENTS.contains(&word) => None,
                    _ => {
                        let text = self.text()?;
                        let problem = |cause: String| JobFileProblem::new("run", cause).at(line);
                        Some(number(&text).map_err(problem)?)
                    }
                };
                self.script.run_s = Some(given);
                Ok(())
            }
            "echo" | "version" | "usage" | "list" | "debug" | "quit" | "create" | "enable" => {
                // Its texts are for the reader of filebench's output.
                while self.at < self.words.len()
                    && (self.words[self.at].is_quoted || !STATEMENTS.contains(&self.peek()))
                {
                    self.at += 1;
                }
                Ok(())
            }
            "system" => Err(JobFileProblem::new(
                "system",
                "it would run a command, and a \
                 personality starts no program",
            )
            .at(line)),
            "sleep" | "domultisync" => {
                let cause = "fslab's phases have neither sleeps nor other machines";
                Err(JobFileProblem::new(word, cause).at(line))
            }
            other => {
                let cause = "no statement that fslab knows of filebench";
                Err(JobFileProblem::new(shown(other), cause).at(line))
            }
        }
    }

    fn set(&mut self) -> Read<()> {
        let name = self.next().to_owned();
        if name == "mode" {
            let (kind, value) = (self.next(), self.next());
            return match (kind, value) {
                ("quit", "firstdone") => {
                    self.script.ends_with_first = true;
                    Ok(())
                }
                ("quit", "timeout" | "alldone") => Ok(()),
                _ => Err(self.problem("a mode that fslab does not know of filebench")),
            };
        }
        self.expect("=")?;
        let value = self.given()?;
        if !self.fixed.contains_key(name.trim_start_matches('$')) {
            self.variables.insert(name, value);
        }
        Ok(())
    }

    /// A value: a word, the value of a variable, or a random variable.
    fn given(&mut self) -> Read<Given> {
        let value = match self.peek() {
            "cvar" | "randvar" => Given::Random(self.random()?),
            name if name.starts_with('$') => {
                let value = self.variables.get(name).cloned();
                let unknown = || {
                    let cause = "the variable has no value";
                    let hint = format!("--set env.{}=VALUE", shown(name.trim_start_matches('$')));
                    self.problem(cause).hint(hint)
                };
                let value = value.ok_or_else(unknown)?;
                self.at += 1;
                value
            }
            "" | "{" | "}" | "(" | ")" | "=" | "," => return Err(self.problem("no value")),
            _ => Given::Text(self.next().to_owned()),
        };
        match self.peek() {
            "*" | "+" => Err(self.problem("fslab evaluates no expressions")),
            _ => Ok(value),
        }
    }

    fn text(&mut self) -> Read<String> {
        match self.given()? {
            Given::Text(text) => Ok(text),
            Given::Random(_) => Err(self.problem("a random variable instead of a number")),
        }
    }

    /// `cvar(type=cvar-gamma,parameters=mean:4096;gamma:1.5)` or `randvar(type=gamma,...)`.
    fn random(&mut self) -> Read<BTreeMap<String, String>> {
        self.at += 1;
        self.expect("(")?;
        let values = self.random_parameters()?;
        self.expect(")")?;
        Ok(values)
    }

    fn random_parameters(&mut self) -> Read<BTreeMap<String, String>> {
        let mut values = BTreeMap::new();
        loop {
            let key = self.next().to_owned();
            self.expect("=")?;
            if self.peek() == "{" {
                self.table()?;
                values.insert(key, "table".to_owned());
            } else {
                // A random variable is defined by its name, which is no value.
                let value = match key.as_str() {
                    "name" => self.next().to_owned(),
                    _ => self.text()?,
                };
                let parts = value.split(';').filter_map(|part| part.split_once(':'));
                values.extend(parts.map(|(key, value)| (key.to_owned(), value.to_owned())));
                values.insert(key, value);
            }
            if !self.takes(",") {
                return Ok(values);
            }
        }
    }

    /// Skips a table in braces.
    fn table(&mut self) -> Read<()> {
        let mut depth = 0_u32;
        loop {
            match self.next() {
                "{" => depth += 1,
                "}" => depth = depth.saturating_sub(1),
                "" => return Err(self.problem("a table without its end")),
                _ => {}
            }
            if depth == 0 {
                return Ok(());
            }
        }
    }

    /// `name=value,name,...`.
    fn attributes(&mut self, head: &str, line: u32) -> Read<Attributes> {
        let mut attributes = Attributes {
            line,
            head: head.to_owned(),
            values: BTreeMap::new(),
        };
        loop {
            let name = match self.next() {
                "filesetname" => "filename",
                "filesize" => "size",
                name => name,
            };
            let value = match self.takes("=") {
                true => Some(self.given()?),
                false => None,
            };
            attributes.values.insert(name.to_owned(), value);
            if !self.takes(",") {
                return Ok(attributes);
            }
        }
    }

    fn define(&mut self, findings: &mut Findings) -> Read<()> {
        let line = self.line();
        match self.next() {
            kind @ ("file" | "files" | "fileset" | "filesets") => {
                let kind = kind.trim_end_matches('s');
                let attributes = self.attributes(kind, line)?;
                let Some(name) = attributes.text("name") else {
                    return Err(attributes.problem("it has no name"));
                };
                self.script.files.insert(name.to_owned(), attributes);
                Ok(())
            }
            "process" | "processes" => self.process(line),
            "randvar" => {
                let mut values = self.random_parameters()?;
                let name = values.remove("name").unwrap_or_default();
                self.variables.insert(name, Given::Random(values));
                Ok(())
            }
            "flowop" => {
                let problem = JobFileProblem::new(
                    "define flowop",
                    "fslab has no operations that a \
                     personality composes",
                )
                .at(line);
                findings.refuse(problem);
                while !matches!(self.peek(), "{" | "") {
                    self.at += 1;
                }
                self.table()
            }
            _ => {
                self.at -= 1;
                Err(self.problem("nothing that fslab knows how to define"))
            }
        }
    }

    fn process(&mut self, line: u32) -> Read<()> {
        let attributes = self.attributes("process", line)?;
        self.expect("{")?;
        let mut threads = Vec::new();
        while !self.takes("}") {
            let line = self.line();
            self.expect("thread")?;
            let attributes = self.attributes("thread", line)?;
            self.expect("{")?;
            let mut operations = Vec::new();
            while !self.takes("}") {
                let line = self.line();
                self.expect("flowop")?;
                let head = self.next().to_owned();
                operations.push(self.attributes(&head, line)?);
            }
            threads.push(ThreadDefinition {
                attributes,
                operations,
            });
        }
        self.script.processes.push(ProcessDefinition {
            attributes,
            threads,
        });
        Ok(())
    }
}
