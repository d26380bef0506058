//! Imports outputs of other tools as runs.

use fslab_compare::relabel;
use fslab_model::{Failure, RunRecord};

use super::assemble::Labels;
use crate::assemble::assemble;
use crate::collection::Part;
use crate::error::Fault;
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
    let mut parts: Vec<Part> = Vec::new();
    let mut runs = Vec::new();
    let mut notes = Vec::new();
    let mut first: Option<(&str, Format)> = None;
    for source in sources {
        let text = source
            .text()
            .map_err(|fault| fault.of(&source.name, format))?;
        let found = match format {
            Some(format) => format,
            None => Format::of(&text).map_err(|fault| fault.of(&source.name, None))?,
        };
        let of = |fault: Fault| fault.of(&source.name, Some(found));
        if let Some((other, format)) = first.filter(|(_, format)| *format != found) {
            return Err(of(Fault::mixed(other, format)));
        }
        first = Some((&source.name, found));
        if found == Format::Json {
            let (mut run, lost) = run_json::read(&text).map_err(of)?;
            let note = |path| {
                format!(
                    "{}: this fslab does not know {path}, and ignored it",
                    source.name
                )
            };
            notes.extend(lost.into_iter().map(note));
            if let Some(subject) = source.subject.as_ref().or(labels.subject.as_ref()) {
                let refused = |error: fslab_compare::MergeError| {
                    Fault::value("", subject.to_string(), error.to_string())
                };
                relabel(&mut run, subject).map_err(|error| of(refused(error)))?;
            }
            runs.push(run);
        } else {
            let reading = found.read(&text).map_err(of)?;
            let ends_with_figure = matches!(found, Format::Bonnie | Format::Csv | Format::Io500);
            if ends_with_figure && !text.ends_with('\n') {
                notes.push(format!(
                    "{}: the last line has no newline; if the file was cut off there, its last \
                     figure is wrong",
                    source.name
                ));
            }
            parts.push(Part {
                file: source.name.clone(),
                subject: source.subject.clone(),
                reading,
            });
        }
    }
    if let Some((_, format)) = first.filter(|_| !parts.is_empty()) {
        let (run, said) = assemble(format, parts, labels)?;
        notes.extend(said);
        runs.push(run);
    }
    Ok(Imported { runs, notes })
}
