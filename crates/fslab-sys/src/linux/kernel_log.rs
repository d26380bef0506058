//! The kernel's log since a chosen point.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;

use rustix::fs::OFlags;

use crate::KernelLine;

/// Above the longest record that the kernel returns.
const RECORD_BYTES: usize = 8192;

/// Bits of a record's priority with the level; the others are the facility.
const LEVEL_BITS: u32 = 7;

/// A position in the kernel log, which advances as it is read.
#[derive(Debug)]
pub struct KernelLog {
    file: io::Result<File>,
    has_gaps: bool,
}

impl KernelLog {
    /// Starts at the current end of the log.
    pub fn mark() -> Self {
        Self::at(SeekFrom::End(0))
    }

    /// Starts at the beginning of the log.
    pub fn from_start() -> Self {
        Self::at(SeekFrom::Start(0))
    }

    fn at(place: SeekFrom) -> Self {
        let open = || {
            let mut file = OpenOptions::new()
                .read(true)
                .custom_flags(OFlags::NONBLOCK.bits().cast_signed())
                .open("/dev/kmsg")?;
            file.seek(place)?;
            Ok(file)
        };
        Self {
            file: open(),
            has_gaps: false,
        }
    }

    /// Why the log cannot be read; `None` if it can.
    pub fn refusal(&self) -> Option<&io::Error> {
        self.file.as_ref().err()
    }

    /// True if messages were overwritten before they were read.
    pub fn has_gaps(&self) -> bool {
        self.has_gaps
    }

    /// The messages since the start or the last call. Empty if the log cannot be read: see
    /// [`Self::refusal`].
    pub fn since(&mut self) -> Vec<KernelLine> {
        let mut lines = Vec::new();
        let Ok(file) = self.file.as_mut() else {
            return lines;
        };
        let mut record = [0; RECORD_BYTES];
        loop {
            match file.read(&mut record) {
                Ok(0) => return lines,
                Ok(length) => lines.extend(line(&record[..length])),
                // EPIPE: records were overwritten; the next read continues behind them.
                Err(error) if error.kind() == ErrorKind::BrokenPipe => self.has_gaps = true,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return lines,
                Err(error) => {
                    self.file = Err(error);
                    return lines;
                }
            }
        }
    }
}

/// Parses a record: `priority,sequence,time,flags;text`, then lines of context.
fn line(record: &[u8]) -> Option<KernelLine> {
    let record = String::from_utf8_lossy(record);
    let (prefix, text) = record.split_once(';')?;
    let priority: u32 = prefix.split(',').next()?.parse().ok()?;
    Some(KernelLine {
        level: priority & LEVEL_BITS,
        text: text.lines().next()?.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_its_level_and_its_text_without_prefix_and_context() {
        let record = b"12,812,5140900,-;EXT4-fs (loop0): bad option\n SUBSYSTEM=block\n";
        let found = line(record).expect("a record");
        assert_eq!(found.text, "EXT4-fs (loop0): bad option");
        // Facility 1 is user space; the level is still a warning.
        assert_eq!(found.level, 4);
        assert_eq!(line(b"garbage"), None);
        assert_eq!(line(b"x,1,2,-;text"), None);
    }
}
