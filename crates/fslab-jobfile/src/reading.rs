//! Which tool's job file a text is, and how it is read.

use std::collections::BTreeMap;

use crate::draft::TranslatedStudy;
use crate::problem::JobFileError;
use crate::{filebench, fio};

/// What the keys of variables begin with in `--set`.
pub const VARIABLE_PREFIX: &str = "env.";

/// The tool whose job file it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobFileKind {
    Fio,
    Filebench,
}

impl JobFileKind {
    /// The kind of the file `name` by its ending; `None` for others.
    pub fn of(name: &str) -> Option<Self> {
        match name.rsplit_once('.')?.1 {
            "fio" => Some(Self::Fio),
            "f" => Some(Self::Filebench),
            _ => None,
        }
    }

    /// The tool's name.
    pub fn tool(self) -> &'static str {
        match self {
            Self::Fio => "fio",
            Self::Filebench => "filebench",
        }
    }
}

/// A job file and what it can refer to.
pub struct JobFileReader<'a> {
    pub kind: JobFileKind,
    /// Its name without directory.
    pub file: &'a str,
    /// Values of variables that the user gave: nothing is taken from the environment.
    pub variables: &'a BTreeMap<String, String>,
    /// The text of a file below the directory of the job file, by its relative path; the error
    /// says why there is none.
    pub include: &'a dyn Fn(&str) -> Result<String, String>,
}

impl JobFileReader<'_> {
    /// The study of the job file `text`.
    ///
    /// # Errors
    /// Everything in the file that cannot be used.
    pub fn read(&self, text: &str) -> Result<TranslatedStudy, JobFileError> {
        match self.kind {
            JobFileKind::Fio => fio::read(self, text),
            JobFileKind::Filebench => filebench::read(self, text),
        }
    }
}
