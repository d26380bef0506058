//! Why an output could not be read: the file, the place in it, the cause, and what to do.

use std::fmt;

use crate::Format;

/// An output that was not read. Nothing of it is in any run.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("cannot import {file}{}", told(*format))]
pub struct ImportError {
    /// The file, as its reader named it.
    pub file: String,
    /// As what it was read; `None` where that was not found out.
    pub format: Option<Format>,
    /// What is wrong, and where.
    #[source]
    pub fault: Box<Fault>,
}

fn told(format: Option<Format>) -> String {
    format.map_or_else(String::new, |format| format!(" as {}", format.title()))
}

/// What is wrong with an output, and where.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// The place: `line 3, field 12 (block-write)`; empty where it is the whole of it.
    pub place: String,
    /// The kind.
    pub kind: ImportErrorKind,
    /// What the user may do, where that is not the usual.
    pub hint: Option<String>,
}

/// The kinds of faults.
#[derive(Clone, Debug, PartialEq)]
pub enum ImportErrorKind {
    /// There is nothing in it.
    Empty,
    /// It is no text: the offset of the first byte that is in none.
    Binary {
        /// From 0.
        offset: usize,
    },
    /// It is the output of none of the tools that are known.
    Unrecognised,
    /// It ends before its end.
    Truncated {
        /// What is missing.
        missing: String,
    },
    /// A line with another number of fields than its format has.
    Fields {
        /// How many there are.
        found: usize,
        /// How many there may be.
        wanted: String,
    },
    /// A field that does not have the value that it should.
    Value {
        /// What stands there.
        found: String,
        /// What should.
        wanted: String,
    },
    /// A field that is not there.
    Missing {
        /// Its name.
        field: String,
    },
    /// Outputs of several tools at once.
    Mixed {
        /// The other file.
        other: String,
        /// What that one is.
        format: Format,
    },
    /// Repeats that did not measure the same.
    Layout {
        /// The phase.
        phase: String,
        /// In what they differ: `block_size is 4k here and 8k in b.json`.
        difference: String,
    },
    /// A version of a format that this fslab does not know.
    Version {
        /// What the output says.
        found: String,
        /// What is known.
        known: String,
    },
    /// It holds no figure.
    NoFigure {
        /// Why, as far as it says so.
        reason: String,
    },
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.place.is_empty() {
            write!(f, "{}: ", self.place)?;
        }
        self.kind.fmt(f)
    }
}

impl std::error::Error for Fault {}

impl fmt::Display for ImportErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("it is empty"),
            Self::Binary { offset } => {
                write!(f, "it is not text: the byte at offset {offset} is in none")
            }
            Self::Unrecognised => f.write_str("it is the output of no tool that is known"),
            Self::Truncated { missing } => write!(f, "it is cut off: {missing}"),
            Self::Fields { found, wanted } => write!(f, "{found} fields, and not {wanted}"),
            Self::Value { found, wanted } => write!(f, "{found:?} is not {wanted}"),
            Self::Missing { field } => write!(f, "'{field}' is missing"),
            Self::Mixed { other, format } => {
                write!(
                    f,
                    "{other} is an output of another kind: {}",
                    format.title()
                )
            }
            Self::Layout { phase, difference } => {
                write!(f, "no repeat of the phase '{phase}': {difference}")
            }
            Self::Version { found, known } => {
                write!(
                    f,
                    "it has the version {found}, and this fslab reads {known}"
                )
            }
            Self::NoFigure { reason } => write!(f, "it has no figure: {reason}"),
        }
    }
}

impl ImportError {
    /// What the user may do.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        if self.fault.hint.is_some() {
            return self.fault.hint.clone();
        }
        let hint = match &self.fault.kind {
            ImportErrorKind::Empty => {
                "give what the tool wrote to standard output; an empty file is often that of a \
                 command that failed"
            }
            ImportErrorKind::Binary { .. } | ImportErrorKind::Unrecognised => {
                "read are bonnie++ CSV, iozone, fio --output-format=json or json+, mdtest, the \
                 JSON of `fslab export`, and CSV with the columns subject, phase, repeat, metric, \
                 value"
            }
            ImportErrorKind::Truncated { .. } => "give the whole output of the tool",
            ImportErrorKind::Mixed { .. } => "import the outputs of each tool by themselves",
            ImportErrorKind::Layout { .. } => {
                "import what was measured otherwise as a run of its own, or as another subject: \
                 --subject NAME=FILE"
            }
            ImportErrorKind::Version { .. } => "import it with a later fslab",
            ImportErrorKind::Fields { .. }
            | ImportErrorKind::Value { .. }
            | ImportErrorKind::Missing { .. }
            | ImportErrorKind::NoFigure { .. } => return None,
        };
        Some(hint.to_owned())
    }
}

impl Fault {
    pub(crate) fn new(place: impl Into<String>, kind: ImportErrorKind) -> Self {
        Self {
            place: place.into(),
            kind,
            hint: None,
        }
    }

    pub(crate) fn value(
        place: impl Into<String>,
        found: impl Into<String>,
        wanted: impl Into<String>,
    ) -> Self {
        let (found, wanted) = (shortened(found.into()), wanted.into());
        Self::new(place, ImportErrorKind::Value { found, wanted })
    }

    pub(crate) fn missing(place: impl Into<String>, field: impl Into<String>) -> Self {
        let field = field.into();
        Self::new(place, ImportErrorKind::Missing { field })
    }

    pub(crate) fn truncated(place: impl Into<String>, missing: impl Into<String>) -> Self {
        let missing = missing.into();
        Self::new(place, ImportErrorKind::Truncated { missing })
    }

    pub(crate) fn no_figure(reason: impl Into<String>) -> Self {
        let reason = reason.into();
        Self::new("", ImportErrorKind::NoFigure { reason })
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    pub(crate) fn of(self, file: &str, format: Option<Format>) -> ImportError {
        ImportError {
            file: file.to_owned(),
            format,
            fault: Box::new(self),
        }
    }
}

/// The most characters of a field that an error repeats.
const FOUND_MAX: usize = 60;

fn shortened(text: String) -> String {
    match text.char_indices().nth(FOUND_MAX) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}
