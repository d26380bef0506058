//! Errors of recording and reading traces.

use std::io;
use std::path::PathBuf;

use fslab_model::{Failure, FailureKind};

/// Error of recording or reading a trace.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// I/O error on a trace file or on the traced directory.
    #[error("cannot {operation} {}", path.display())]
    Io {
        /// The operation: `read`, `write`, `list`.
        operation: &'static str,
        /// Its object.
        path: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// A line is not valid JSON of a trace.
    #[error("{} is not a trace: line {line} is not readable", path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The cause.
        #[source]
        source: serde_json::Error,
    },
    /// The file is empty, truncated or inconsistent.
    #[error("{} is not a trace: {problem}", path.display())]
    Shape {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// The format is newer than this fslab.
    #[error("{} has trace format {found}; this fslab reads up to {known}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// Version of the file.
        found: u32,
        /// Newest version that is read.
        known: u32,
    },
    /// strace cannot be started.
    #[error("cannot start strace")]
    NoStrace(#[source] io::Error),
    /// strace ran but recorded nothing.
    #[error("strace recorded nothing: {0}")]
    Strace(String),
    /// The directory cannot be traced.
    #[error("cannot record below {}: {problem}", root.display())]
    Root {
        /// The directory.
        root: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// A line of strace's output cannot be parsed.
    #[error("cannot parse line {line} of strace's output: {text}")]
    Line {
        /// The line, from 1.
        line: usize,
        /// The line itself.
        text: String,
    },
}

impl TraceError {
    pub(crate) fn io(operation: &'static str, path: impl Into<PathBuf>, source: io::Error) -> Self {
        Self::Io {
            operation,
            path: path.into(),
            source,
        }
    }

    /// Advice, where the cause is likely.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NoStrace(_) => Some("install strace (package strace)".into()),
            Self::Strace(_) => {
                Some("tracing may be forbidden here: see ptrace(2), and yama/ptrace_scope".into())
            }
            Self::Root { .. } => {
                Some("give the directory that the command works in with --root".into())
            }
            Self::Shape { .. } | Self::Syntax { .. } => {
                Some("traces are made by `fslab trace record`".into())
            }
            _ => None,
        }
    }
}

impl From<TraceError> for Failure {
    fn from(error: TraceError) -> Self {
        let kind = match &error {
            TraceError::NoStrace(_) => FailureKind::MissingTool,
            TraceError::Strace(_) => FailureKind::Unsupported,
            TraceError::Io { source, .. } => {
                FailureKind::of_users_file(source, FailureKind::BadInput)
            }
            TraceError::Root { .. }
            | TraceError::Syntax { .. }
            | TraceError::Shape { .. }
            | TraceError::Format { .. }
            | TraceError::Line { .. } => FailureKind::BadInput,
        };
        Self::of_error(kind, &error).with_hint(error.hint())
    }
}
