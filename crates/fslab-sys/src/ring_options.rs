//! What is asked of a queue of operations, and what it answers.

use std::io;

/// Settings of a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingOptions {
    /// Maximum of operations in flight; 1 to 4096.
    pub depth: u32,
    pub buffer_bytes: usize,
    /// Register the buffers with the kernel.
    pub registered_buffers: bool,
    /// Register the file with the kernel.
    pub registered_file: bool,
    /// A kernel thread takes submissions and sleeps after this many idle milliseconds.
    pub submission_poll_ms: Option<u32>,
    /// Poll the device for completions.
    pub completion_poll: bool,
}

/// A sync operation on the ring's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RingSync {
    /// fsync(2).
    Fsync,
    /// fdatasync(2).
    Fdatasync,
    /// sync_file_range(2) of the complete file: wait, write, wait.
    Range,
}

/// A part of a buffer and its position in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingTransfer {
    /// The buffer.
    pub slot: u32,
    /// Offset in the buffer.
    pub within: usize,
    /// Length in bytes.
    pub length: usize,
    /// Offset in the file.
    pub offset: u64,
    /// True to read into the buffer; false to write from it.
    pub reads: bool,
}

/// A completed operation.
#[derive(Debug)]
pub struct RingCompletion {
    /// Its buffer.
    pub slot: u32,
    /// Bytes transferred, or the error of the equivalent call.
    pub result: io::Result<u32>,
}
