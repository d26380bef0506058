//! The kernel's own words: what it logged since a moment that we chose.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;

use rustix::fs::OFlags;

/// Longest record that the kernel hands out, with room to spare.
const RECORD_BYTES: usize = 8192;

/// A place in the kernel's log. Where the log may not be read, it stays empty: it serves
/// explanations, not figures.
#[derive(Debug)]
pub struct KernelLog(Option<File>);

impl KernelLog {
    /// Marks the end of the log as it is now.
    #[must_use]
    pub fn mark() -> Self {
        let open = OpenOptions::new()
            .read(true)
            .custom_flags(OFlags::NONBLOCK.bits().cast_signed())
            .open("/dev/kmsg");
        Self(
            open.ok()
                .and_then(|mut file| file.seek(SeekFrom::End(0)).ok().map(|_| file)),
        )
    }

    /// The messages since the mark, without their prefixes.
    #[must_use]
    pub fn since(&mut self) -> Vec<String> {
        let mut messages = Vec::new();
        let Some(file) = self.0.as_mut() else {
            return messages;
        };
        let mut record = [0; RECORD_BYTES];
        loop {
            match file.read(&mut record) {
                Ok(0) => return messages,
                Ok(length) => messages.extend(message(&record[..length])),
                // EPIPE: records were overwritten before we came; the next read goes on behind.
                Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
                Err(_) => return messages,
            }
        }
    }
}

/// The text of a record: `priority,sequence,time,flags;text`, then lines of context.
fn message(record: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(record);
    let (_, text) = text.split_once(';')?;
    Some(text.lines().next()?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_prefix_and_the_context_of_a_record_are_left_out() {
        let record = b"3,812,5140900,-;EXT4-fs (loop0): bad option\n SUBSYSTEM=block\n";
        assert_eq!(
            message(record).as_deref(),
            Some("EXT4-fs (loop0): bad option")
        );
        assert_eq!(message(b"garbage"), None);
    }
}
