//! Errors of reading and writing a trace.

use std::io;

/// A trace that cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum DiskTraceError {
    /// An error of the operating system.
    #[error("cannot {doing} the trace of the disk")]
    Io {
        /// `open`, `read` or `write`.
        doing: &'static str,
        source: io::Error,
    },
    /// The file is not a trace, or ends within the header.
    #[error("the file is not the trace of a simulated disk")]
    Foreign,
    /// Written by a driver of another version.
    #[error("the trace has the unsupported format {version} with records of {record_bytes} bytes")]
    Version {
        /// The version in its header.
        version: u32,
        /// The size of a record in its header.
        record_bytes: u32,
    },
    /// An invalid record.
    #[error("record {number} of the trace {problem}")]
    Record {
        /// Its number, from 0.
        number: u64,
        /// The error, as a fragment that follows the record's number.
        problem: &'static str,
    },
}
