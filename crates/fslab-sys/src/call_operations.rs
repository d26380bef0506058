//! What an array of system calls refers to, and what it has done.

use std::io;

use crate::{DataFile, OpenedByCall};

/// The most bytes that [`crate::CallBatch::copy`] copies.
pub const STAMP_BYTES: usize = 32;

/// A file that calls use.
#[derive(Clone, Copy, Debug)]
pub enum CallFile<'b> {
    Open(&'b DataFile),
    /// One that a call of the same operation opens.
    Opened(OpenedByCall),
}

impl<'b> From<&'b DataFile> for CallFile<'b> {
    fn from(file: &'b DataFile) -> Self {
        Self::Open(file)
    }
}

/// An operation that was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DoneOperation {
    /// The time before its first call.
    pub start_ns: u64,
    /// The time after its last call.
    pub end_ns: u64,
    /// What it counts.
    pub count: u64,
}

/// An operation that a call without the expected result has ended.
#[derive(Debug)]
pub struct StoppedOperation {
    /// The time before its first call.
    pub start_ns: u64,
    /// The file that it has opened and not closed.
    pub file: Option<DataFile>,
    /// Bytes that it has read or written.
    pub moved: u64,
    /// The unexpected result: the bytes of a read or write.
    pub result: io::Result<u64>,
}
