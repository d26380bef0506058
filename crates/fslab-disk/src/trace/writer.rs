//! Writes a trace as the driver does, for tests and for runs of the model outside a guest.

use std::io::Write;

use super::error::DiskTraceError;
use super::record::{MAGIC, RECORD_BYTES, Record, VERSION};

/// Writes a trace.
pub struct Writer<W> {
    sink: W,
}

impl<W: Write> Writer<W> {
    /// Writes the header.
    pub fn new(mut sink: W) -> Result<Self, DiskTraceError> {
        let record_bytes = RECORD_BYTES as u32;
        sink.write_all(&MAGIC)
            .and_then(|()| sink.write_all(&VERSION.to_le_bytes()))
            .and_then(|()| sink.write_all(&record_bytes.to_le_bytes()))
            .map_err(failed)?;
        Ok(Self { sink })
    }

    /// Adds a record; records must be ordered by completion.
    pub fn add(&mut self, record: &Record) -> Result<(), DiskTraceError> {
        self.sink.write_all(&record.to_bytes()).map_err(failed)
    }

    /// Flushes the trace and returns the sink.
    pub fn finish(mut self) -> Result<W, DiskTraceError> {
        self.sink.flush().map_err(failed)?;
        Ok(self.sink)
    }
}

fn failed(source: std::io::Error) -> DiskTraceError {
    DiskTraceError::Io {
        doing: "write",
        source,
    }
}
