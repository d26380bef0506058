//! Why a trace could not be made or read.

use std::io;
use std::path::PathBuf;

/// Why a trace could not be made or read.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The file of a trace, or what was recorded, cannot be read or written.
    #[error("cannot {operation} {}", path.display())]
    Io {
        /// What was tried: `read`, `write`, `list`.
        operation: &'static str,
        /// On what.
        path: PathBuf,
        /// Why it failed.
        #[source]
        source: io::Error,
    },
    /// It is not a trace.
    #[error("{} is not a trace: line {line} is not readable", path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        #[source]
        source: serde_json::Error,
    },
    /// It has no first line, or ends in the middle.
    #[error("{} is not a trace: {problem}", path.display())]
    Shape {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// It is from a later fslab.
    #[error("{} has the trace format {found}, and this fslab reads up to {known}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// What it says.
        found: u32,
        /// What we read.
        known: u32,
    },
    /// The program that listens to system calls is not there.
    #[error("cannot start strace")]
    NoStrace(#[source] io::Error),
    /// It was there, and did not do its work.
    #[error("strace recorded nothing: {0}")]
    Strace(String),
    /// The command cannot be recorded below that folder.
    #[error("cannot record below {}: {problem}", root.display())]
    Root {
        /// The folder.
        root: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// A line of strace that is none.
    #[error("cannot understand line {line} of strace: {text}")]
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
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NoStrace(_) => Some("install strace (package strace)".into()),
            Self::Strace(_) => {
                Some("tracing may be forbidden here: see ptrace(2), and yama/ptrace_scope".into())
            }
            Self::Root { .. } => Some("name the folder that the command works in by --root".into()),
            Self::Shape { .. } | Self::Syntax { .. } => {
                Some("traces are made by `fslab trace record`".into())
            }
            _ => None,
        }
    }
}
