//! Why a trace cannot be read.

use std::io;

/// Why a trace cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum DiskTraceError {
    /// The operating system.
    #[error("cannot {doing} the trace of the disk")]
    Io {
        /// `open`, `read` or `write`.
        doing: &'static str,
        /// Its reason.
        source: io::Error,
    },
    /// The file is something else, or ends within its header.
    #[error("the file is not the trace of a simulated disk")]
    Foreign,
    /// Written by another driver.
    #[error(
        "the trace has format {version} with records of {record_bytes} bytes, which is not ours"
    )]
    Version {
        /// The version in its header.
        version: u32,
        /// The size of a record in its header.
        record_bytes: u32,
    },
    /// A record that the driver cannot have meant.
    #[error("record {number} of the trace {problem}")]
    Record {
        /// Its number, from 0.
        number: u64,
        /// What is wrong with it.
        problem: &'static str,
    },
}
