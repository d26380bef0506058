//! Why a measurement could not be made.

use std::io;
use std::path::Path;

/// What went wrong, and with what.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BenchError {
    /// The system refused something.
    #[error("cannot {operation} {object}")]
    Io {
        operation: &'static str,
        object: String,
        source: io::Error,
    },
    /// A program ended with a failure.
    #[error("{command}: {status}\n{output}")]
    Command {
        command: String,
        status: String,
        output: String,
    },
    /// A program's output is not what its parser knows.
    #[error("cannot read what {tool} printed: {why}")]
    Output { tool: &'static str, why: String },
    /// An argument makes no sense, or not on this machine.
    #[error("{0}")]
    Input(String),
    /// The user interrupted the bench.
    #[error("interrupted")]
    Interrupted,
}

impl BenchError {
    /// `operation` on `path` failed.
    pub(crate) fn io(operation: &'static str, path: &Path, source: io::Error) -> Self {
        Self::Io {
            operation,
            object: path.display().to_string(),
            source,
        }
    }

    /// What `tool` printed is not understood.
    pub(crate) fn output(tool: &'static str, why: impl Into<String>) -> Self {
        Self::Output {
            tool,
            why: why.into(),
        }
    }
}
