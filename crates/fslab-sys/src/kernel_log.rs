//! The kernel's own words: what it logged since a moment that we chose.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;

use rustix::fs::OFlags;

/// Longest record that the kernel hands out, with room to spare.
const RECORD_BYTES: usize = 8192;

/// Bits of a record's first number that are its level; the others are its facility.
const LEVEL_BITS: u32 = 7;

/// A message of the kernel's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelLine {
    /// syslog(2)'s level: 3 is an error, 4 a warning, 6 a mere information.
    pub level: u32,
    /// The message without its prefix.
    pub text: String,
}

/// A place in the kernel's log, which moves on as it is read.
#[derive(Debug)]
pub struct KernelLog {
    file: io::Result<File>,
    has_gaps: bool,
}

impl KernelLog {
    /// Marks the end of the log as it is now.
    #[must_use]
    pub fn mark() -> Self {
        Self::at(SeekFrom::End(0))
    }

    /// All that the log still has.
    #[must_use]
    pub fn whole() -> Self {
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

    /// Why nothing can be read from it; `None` where it can.
    #[must_use]
    pub fn refusal(&self) -> Option<&io::Error> {
        self.file.as_ref().err()
    }

    /// Whether messages were overwritten before they were read.
    #[must_use]
    pub fn has_gaps(&self) -> bool {
        self.has_gaps
    }

    /// The messages since the mark, or since the last call. Where the log cannot be read there are
    /// none: see [`Self::refusal`].
    #[must_use]
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
                // EPIPE: records were overwritten before we came; the next read goes on behind.
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

/// A record: `priority,sequence,time,flags;text`, then lines of context.
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
        // Facility 1 is a program's; the level is a warning all the same.
        assert_eq!(found.level, 4);
        assert_eq!(line(b"garbage"), None);
        assert_eq!(line(b"x,1,2,-;text"), None);
    }
}
