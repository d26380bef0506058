//! Errors of reading an output: file, place, cause and hint.

use std::fmt;

use fslab_model::{Failure, FailureKind};

use crate::Format;

/// An output that could not be read; none of it is in a run.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("cannot import {file}{}", format_suffix(*format))]
pub struct ImportError {
    /// The file, as named by its reader.
    pub file: String,
    /// The format it was read as; `None` if unknown.
    pub format: Option<Format>,
    /// The cause and its place.
    #[source]
    pub fault: Box<Fault>,
}

fn format_suffix(format: Option<Format>) -> String {
    format.map_or_else(String::new, |format| format!(" as {}", format.title()))
}

/// The cause of an error, and its place in the output.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// The place: `line 3, field 12 (block-write)`; empty for the entire output.
    pub place: String,
    pub kind: ImportErrorKind,
    /// What the user can do, if not the usual.
    pub hint: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ImportErrorKind {
    Empty,
    /// It is not text; the offset of the first byte that is not.
    Binary {
        /// From 0.
        offset: usize,
    },
    /// It is not the output of a known tool.
    Unrecognised,
    /// It is cut off.
    Truncated {
        /// What is missing.
        missing: String,
    },
    /// A line with the wrong number of fields.
    Fields {
        /// The number found.
        found: usize,
        /// The valid numbers.
        wanted: String,
    },
    /// A field with an invalid value.
    Value {
        /// The value found.
        found: String,
        /// The valid values.
        wanted: String,
    },
    /// A missing field.
    Missing {
        field: String,
    },
    /// Outputs of several tools.
    Mixed {
        /// The other file.
        other: String,
        format: Format,
    },
    /// Repeats that did not measure the same.
    Layout {
        phase: String,
        /// The difference: `block_size is 4k here and 8k in b.json`.
        difference: String,
    },
    /// An unknown version of a format.
    Version {
        /// The version found.
        found: String,
        /// The known versions.
        known: String,
    },
    /// It has no figure.
    NoFigure {
        /// The reason, as far as the output gives one.
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
                write!(f, "it is not text: the byte at offset {offset} is invalid")
            }
            Self::Unrecognised => f.write_str("it is not the output of a known tool"),
            Self::Truncated { missing } => write!(f, "it is cut off: {missing}"),
            Self::Fields { found, wanted } => write!(f, "{found} fields instead of {wanted}"),
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
                write!(f, "not a repeat of the phase '{phase}': {difference}")
            }
            Self::Version { found, known } => {
                write!(
                    f,
                    "it has the version {found}, but this fslab reads {known}"
                )
            }
            Self::NoFigure { reason } => write!(f, "it has no figure: {reason}"),
        }
    }
}

impl ImportError {
    /// What the user can do.
    pub fn hint(&self) -> Option<String> {
        if self.fault.hint.is_some() {
            return self.fault.hint.clone();
        }
        let hint = match &self.fault.kind {
            ImportErrorKind::Empty => {
                "import what the tool wrote to standard output; an empty file often means that the \
                 command failed"
            }
            ImportErrorKind::Binary { .. } | ImportErrorKind::Unrecognised => {
                "known formats are bonnie++ CSV, iozone, fio --output-format=json or json+, IOR, \
                 mdtest, IO500, the JSON of `fslab export`, and CSV with the columns subject, \
                 phase, repeat, metric, value"
            }
            ImportErrorKind::Truncated { .. } => "import the complete output of the tool",
            ImportErrorKind::Mixed { .. } => "import the outputs of each tool separately",
            ImportErrorKind::Layout { .. } => {
                "import different measurements as a separate run, or as another subject: --subject \
                 NAME=FILE"
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

/// Most characters of a field in an error.
const FOUND_MAX: usize = 60;

fn shortened(text: String) -> String {
    match text.char_indices().nth(FOUND_MAX) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}

impl From<ImportError> for Failure {
    fn from(error: ImportError) -> Self {
        let failure = Self::new(FailureKind::BadInput, error.to_string());
        failure.with_hint(error.hint()).because(&error.fault)
    }
}
