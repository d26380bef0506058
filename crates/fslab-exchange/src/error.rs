//! Errors in an output: what is wrong at which place. With the file's name it is a [`Failure`].

use std::fmt;

use fslab_model::Failure;

use crate::Format;

/// An error in an output, before the file's name is added.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fault {
    /// A line, a path in JSON or a field; empty for the file.
    place: String,
    text: String,
    pub(crate) hint: Option<String>,
}

/// Most characters of a value that are quoted in an error.
const FOUND_MAX: usize = 60;

impl Fault {
    pub(crate) fn new(place: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            place: place.into(),
            text: text.into(),
            hint: None,
        }
    }

    /// A value that is not what the format demands.
    pub(crate) fn value(
        place: impl Into<String>,
        found: impl Into<String>,
        wanted: impl fmt::Display,
    ) -> Self {
        let mut found = found.into();
        if let Some((end, _)) = found.char_indices().nth(FOUND_MAX) {
            found.truncate(end);
            found.push_str("...");
        }
        Self::new(place, format!("{found:?} is not {wanted}"))
    }

    /// Another number of fields than the format has.
    pub(crate) fn fields(
        place: impl Into<String>,
        found: usize,
        wanted: impl fmt::Display,
    ) -> Self {
        Self::new(place, format!("{found} fields instead of {wanted}"))
    }

    pub(crate) fn missing(place: impl Into<String>, field: impl fmt::Display) -> Self {
        Self::new(place, format!("'{field}' is missing"))
    }

    /// The output ends too early.
    pub(crate) fn truncated(place: impl Into<String>, missing: impl fmt::Display) -> Self {
        let fault = Self::new(place, format!("it is cut off: {missing}"));
        fault.hint("import the complete output of the tool")
    }

    /// The output has no figure to import.
    pub(crate) fn no_figure(reason: impl fmt::Display) -> Self {
        Self::new("", format!("it has no figure: {reason}"))
    }

    /// Two formats, `other` being of `format`.
    pub(crate) fn mixed(other: &str, format: Format) -> Self {
        let title = format.title();
        let text = format!("{other} is an output of another kind: {title}");
        Self::new("", text).hint("import the outputs of each tool separately")
    }

    /// The output of no known tool.
    pub(crate) fn foreign(text: impl Into<String>) -> Self {
        Self::new("", text).hint(
            "known formats are bonnie++, iozone, fio (JSON, terse or normal output), IOR, mdtest, \
             IO500, dbench, pgbench, sysbench fileio, fs_mark, elbencho, DiskSpd (XML), smallfile \
             (JSON), Filebench, the composite.xml of the Phoronix Test Suite, the JSON of \
             `fslab export`, and CSV with the columns subject, phase, repeat, metric, value",
        )
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Gives it a hint if it has none.
    pub(crate) fn or_hint(mut self, hint: &str) -> Self {
        self.hint.get_or_insert_with(|| hint.to_owned());
        self
    }

    /// Adds the file's name, and its format if known.
    pub(crate) fn of(self, file: &str, format: Option<Format>) -> Failure {
        let format = format.map_or_else(String::new, |format| format!(" as {}", format.title()));
        let mut failure = Failure::bad_input(format!("cannot import {file}{format}"));
        failure.causes.push(self.to_string());
        failure.with_hint(self.hint)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.place.is_empty() {
            write!(f, "{}: ", self.place)?;
        }
        f.write_str(&self.text)
    }
}
