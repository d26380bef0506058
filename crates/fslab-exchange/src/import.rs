//! Imports outputs of other tools as runs.

use fslab_compare::relabel;
use fslab_model::{Failure, RunRecord};

use super::assemble::Labels;
use crate::assemble::assemble;
use crate::collection::Part;
use crate::error::Fault;
use crate::hosts::by_host;
use crate::read::run_json;
use crate::{Format, Source};

/// The result of an import.
#[derive(Clone, Debug, PartialEq)]
pub struct Imported {
    /// One run of all files of another tool, or one run of each file of fslab.
    pub runs: Vec<RunRecord>,
    /// What was left out or is uncertain.
    pub notes: Vec<String>,
}

/// Reads `sources`, which must have one format: `format`, or the one detected.
///
/// Files are repeats, unless they name subjects or have one. Runs of fslab are taken unchanged.
///
/// # Errors
/// The first file that cannot be read; then nothing is imported.
pub fn import(
    sources: &[Source],
    format: Option<Format>,
    labels: &Labels,
) -> Result<Imported, Failure> {
    let mut import = Import {
        format,
        labels,
        first: None,
        parts: Vec::new(),
        runs: Vec::new(),
        notes: Vec::new(),
    };
    for source in sources {
        let text = source
            .text()
            .map_err(|fault| fault.of(&source.name, format))?;
        match by_host(&text) {
            None => import.take(source, &text, None)?,
            Some(texts) => {
                let is_alone = texts.len() == 1;
                for (host, text) in &texts {
                    import.take(source, text, (!is_alone).then_some(*host))?;
                }
            }
        }
    }
    let Import {
        first,
        parts,
        mut runs,
        mut notes,
        ..
    } = import;
    if let Some((_, format)) = first.filter(|_| !parts.is_empty()) {
        let (run, said) = assemble(format, parts, labels)?;
        notes.extend(said);
        runs.push(run);
    }
    Ok(Imported { runs, notes })
}

/// An import that is under way.
struct Import<'s> {
    format: Option<Format>,
    labels: &'s Labels,
    /// The first file, and its format.
    first: Option<(&'s str, Format)>,
    parts: Vec<Part>,
    runs: Vec<RunRecord>,
    notes: Vec<String>,
}

impl<'s> Import<'s> {
    /// Takes a text of a source: all of it, or that of one host.
    fn take(&mut self, source: &'s Source, text: &str, host: Option<&str>) -> Result<(), Failure> {
        let found = match self.format {
            Some(format) => format,
            None => Format::of(text).map_err(|fault| fault.of(&source.name, None))?,
        };
        let of = |fault: Fault| fault.of(&source.name, Some(found));
        if let Some((other, format)) = self.first.filter(|(_, format)| *format != found) {
            return Err(of(Fault::mixed(other, format)));
        }
        self.first = Some((&source.name, found));
        if found == Format::Json {
            return self.run(source, text).map_err(of);
        }
        let mut reading = found.read(&source.name, text).map_err(of)?;
        let ends_with_figure = matches!(found, Format::Bonnie | Format::Csv | Format::Io500);
        if ends_with_figure && !text.ends_with('\n') {
            self.notes.push(format!(
                "{}: the last line has no newline; if the file was cut off there, its last \
                 figure is wrong",
                source.name
            ));
        }
        if let Some(host) = host {
            for trial in &mut reading.trials {
                trial.subject.get_or_insert_with(|| host.to_owned());
            }
        }
        self.parts.push(Part {
            file: source.name.clone(),
            subject: source.subject.clone(),
            reading,
        });
        Ok(())
    }

    /// Takes a run of fslab.
    fn run(&mut self, source: &Source, text: &str) -> Result<(), Fault> {
        let (mut run, lost) = run_json::read(text)?;
        let note = |path| {
            format!(
                "{}: this fslab does not know {path}, and ignored it",
                source.name
            )
        };
        self.notes.extend(lost.into_iter().map(note));
        if let Some(subject) = source.subject.as_ref().or(self.labels.subject.as_ref()) {
            relabel(&mut run, subject)
                .map_err(|error| Fault::value("", subject.to_string(), error.to_string()))?;
        }
        self.runs.push(run);
        Ok(())
    }
}
