//! What was recorded of a guest kernel's process: the data of writes, in the order of submission.
//! The format is that of `crates/fslab-venue/preload/record.c`.

use std::io::{ErrorKind, Read};

use super::contents::SECTOR_BYTES;
use crate::LogError;

/// Bytes of the head of an entry.
const HEAD_BYTES: usize = 24;
/// The longest entry of a write: more than any request has.
const ENTRY_BYTES_MAX: u64 = 64 << 20;

/// What an entry does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordedKind {
    /// Writes data.
    Write(Vec<u8>),
    /// Makes a range read as zeros.
    Hole,
}

/// An entry: a write or a part of one, or a hole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedEntry {
    /// What it does.
    pub kind: RecordedKind,
    /// First sector.
    pub sector: u64,
    /// Number of sectors.
    pub sectors: u64,
}

/// Reads a recording, entry by entry.
pub struct Recording<R> {
    source: R,
    number: u64,
}

impl<R: Read> Recording<R> {
    /// A recording from its beginning.
    pub fn new(source: R) -> Self {
        Self { source, number: 0 }
    }

    /// The next entry; `None` at the end.
    ///
    /// # Errors
    /// `RecordedEntry` for one that is none, or ends early; `Io`.
    pub fn next_entry(&mut self) -> Result<Option<RecordedEntry>, LogError> {
        let mut head = [0; HEAD_BYTES];
        let mut got = 0;
        while got < HEAD_BYTES {
            match self.source.read(&mut head[got..]) {
                Ok(0) if got == 0 => return Ok(None),
                Ok(0) => return Err(self.fault("ends within its head")),
                Ok(count) => got += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(LogError::reading(error)),
            }
        }
        let number = |at: usize| {
            let bytes = std::array::from_fn(|index| head[at + index]);
            u64::from_le_bytes(bytes)
        };
        let (offset, bytes) = (number(8), number(16));
        if offset % SECTOR_BYTES != 0 || bytes % SECTOR_BYTES != 0 || bytes == 0 {
            return Err(self.fault("is not of full sectors"));
        }
        let kind = match &head[..4] {
            b"HOLE" => RecordedKind::Hole,
            b"WRIT" if bytes > ENTRY_BYTES_MAX => return Err(self.fault("is too long")),
            b"WRIT" => {
                let mut data = Vec::new();
                let taken = (&mut self.source).take(bytes).read_to_end(&mut data);
                if taken.map_err(LogError::reading)? as u64 != bytes {
                    return Err(self.fault("ends within its data"));
                }
                RecordedKind::Write(data)
            }
            _ => return Err(self.fault("is of an unknown kind")),
        };
        self.number += 1;
        Ok(Some(RecordedEntry {
            kind,
            sector: offset / SECTOR_BYTES,
            sectors: bytes / SECTOR_BYTES,
        }))
    }

    fn fault(&self, problem: &'static str) -> LogError {
        LogError::RecordedEntry {
            number: self.number,
            problem,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(kind: &[u8; 4], offset: u64, bytes: u64, data: &[u8]) -> Vec<u8> {
        let mut text = kind.to_vec();
        text.extend([0; 4]);
        text.extend(offset.to_le_bytes());
        text.extend(bytes.to_le_bytes());
        text.extend(data);
        text
    }

    #[test]
    fn entries_are_read_in_order() {
        let mut text = entry(b"WRIT", 1024, 512, &[7; 512]);
        text.extend(entry(b"HOLE", 0, 4096, &[]));
        let mut recording = Recording::new(&text[..]);
        let write = RecordedEntry {
            kind: RecordedKind::Write(vec![7; 512]),
            sector: 2,
            sectors: 1,
        };
        assert_eq!(recording.next_entry().expect("read"), Some(write));
        let hole = recording.next_entry().expect("read").expect("an entry");
        assert_eq!((hole.kind, hole.sectors), (RecordedKind::Hole, 8));
        assert_eq!(recording.next_entry().expect("read"), None);
    }

    #[test]
    fn what_is_no_entry_is_refused() {
        let cases = [
            (entry(b"XXXX", 0, 512, &[0; 512]), "is of an unknown kind"),
            (entry(b"WRIT", 1, 512, &[0; 512]), "is not of full sectors"),
            (entry(b"WRIT", 0, 0, &[]), "is not of full sectors"),
            (entry(b"WRIT", 0, 1 << 40, &[]), "is too long"),
            (entry(b"WRIT", 0, 1024, &[0; 512]), "ends within its data"),
            (b"WRIT".to_vec(), "ends within its head"),
        ];
        for (text, problem) in cases {
            let found = Recording::new(&text[..]).next_entry();
            let found = found.expect_err("must be refused").to_string();
            assert!(found.ends_with(problem), "{found}");
        }
    }
}
