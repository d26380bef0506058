//! Errors of logs.

use std::io;

/// A log, or the recording that it is made of, that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// An error of the operating system, or of decompression.
    #[error("cannot {doing} the disk log")]
    Io {
        /// `read` or `write`.
        doing: &'static str,
        source: io::Error,
    },
    /// The file is not a log.
    #[error("the file is not a disk log")]
    Foreign,
    /// Written in another format.
    #[error("the disk log has the unsupported format {version}")]
    Version {
        /// The version in its head.
        version: u32,
    },
    /// Its head is no JSON of the expected form.
    #[error("cannot read the head of the disk log")]
    Head(#[from] serde_json::Error),
    /// More than a reader takes.
    #[error("the disk log has {what} than the limit of {limit}")]
    TooLarge {
        /// `more requests`, `more blocks`, `a longer head`.
        what: &'static str,
        limit: u64,
    },
    /// A request that cannot be.
    #[error("request {number} of the disk log {problem}")]
    Request {
        /// Its number, from 0.
        number: u64,
        /// The error, as a fragment that follows the number.
        problem: &'static str,
    },
    /// It has a block twice, one of an impossible length, or more than it says.
    #[error("the disk log is damaged")]
    Damaged,
    /// An invalid entry of a recording.
    #[error("entry {number} of the recording of the disk {problem}")]
    RecordedEntry {
        /// Its number, from 0.
        number: u64,
        /// The error, as a fragment that follows the number.
        problem: &'static str,
    },
    /// The trace has requests that the recording does not have, or the other way round.
    #[error("the recording of the disk does not match its trace: {0}")]
    Unlike(String),
    /// The trace of the disk cannot be read.
    #[error("cannot read the trace of the recorded disk")]
    Trace(#[from] fslab_disk::trace::DiskTraceError),
}

impl LogError {
    pub(crate) fn reading(source: io::Error) -> Self {
        Self::Io {
            doing: "read",
            source,
        }
    }

    pub(crate) fn writing(source: io::Error) -> Self {
        Self::Io {
            doing: "write",
            source,
        }
    }
}
