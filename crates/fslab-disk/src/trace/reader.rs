//! Reads a trace of any size, record by record.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use super::error::DiskTraceError;
use super::record::{HEADER_BYTES, MAGIC, RECORD_BYTES, Record, VERSION};

/// Records that are read in one call.
const RECORDS_AT_ONCE: usize = 4096;

/// Reads a trace. Records are ordered by completion, which is checked.
///
/// A trace may end within a record if the guest was stopped: that record is skipped, and
/// [`Reader::torn_bytes`] has its bytes.
pub struct Reader<R> {
    source: R,
    buffer: Vec<u8>,
    /// The range of the buffer that was read and not yet returned.
    from: usize,
    to: usize,
    number: u64,
    last_ns: u64,
    torn_bytes: usize,
}

impl Reader<File> {
    /// Opens a trace.
    pub fn open(path: &Path) -> Result<Self, DiskTraceError> {
        let file = fslab_sys::open_named(path).map_err(|source| DiskTraceError::Io {
            doing: "open",
            source,
        })?;
        Self::new(file)
    }
}

impl<R: Read> Reader<R> {
    /// Reads the header of a trace.
    ///
    /// # Errors
    /// `Foreign` for a file that is not a trace, `Version` for an unsupported format, `Io`.
    pub fn new(source: R) -> Result<Self, DiskTraceError> {
        let mut reader = Self {
            source,
            buffer: vec![0; RECORD_BYTES * RECORDS_AT_ONCE],
            from: 0,
            to: 0,
            number: 0,
            last_ns: 0,
            torn_bytes: 0,
        };
        let header: [u8; HEADER_BYTES] = reader.bytes_of()?.ok_or(DiskTraceError::Foreign)?;
        let [version, record_bytes] = [8, 12].map(|at| {
            let bytes = [0, 1, 2, 3].map(|index| header[at + index]);
            u32::from_le_bytes(bytes)
        });
        if header[..8] != MAGIC {
            return Err(DiskTraceError::Foreign);
        }
        if version != VERSION || record_bytes != RECORD_BYTES as u32 {
            return Err(DiskTraceError::Version {
                version,
                record_bytes,
            });
        }
        Ok(reader)
    }

    /// The number of records returned so far.
    pub fn records(&self) -> u64 {
        self.number
    }

    /// After the last record, the bytes of an incomplete one.
    pub fn torn_bytes(&self) -> usize {
        self.torn_bytes
    }

    /// The next `N` bytes; `None` if the file ends before.
    fn bytes_of<const N: usize>(&mut self) -> Result<Option<[u8; N]>, DiskTraceError> {
        while self.to - self.from < N {
            self.buffer.copy_within(self.from..self.to, 0);
            (self.from, self.to) = (0, self.to - self.from);
            match self.source.read(&mut self.buffer[self.to..]) {
                Ok(0) => return Ok(None),
                Ok(count) => self.to += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(source) => {
                    return Err(DiskTraceError::Io {
                        doing: "read",
                        source,
                    });
                }
            }
        }
        let bytes = &self.buffer[self.from..self.from + N];
        self.from += N;
        Ok(Some(bytes.try_into().expect("N bytes were asked for")))
    }

    fn next_record(&mut self) -> Result<Option<Record>, DiskTraceError> {
        let Some(bytes) = self.bytes_of()? else {
            self.torn_bytes = self.to - self.from;
            return Ok(None);
        };
        let fault = |problem| DiskTraceError::Record {
            number: self.number,
            problem,
        };
        let record = Record::from_bytes(&bytes).map_err(fault)?;
        if record.done_ns < self.last_ns {
            return Err(fault("ends before the one before it"));
        }
        self.last_ns = record.done_ns;
        self.number += 1;
        Ok(Some(record))
    }
}

impl<R: Read> Iterator for Reader<R> {
    type Item = Result<Record, DiskTraceError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_record().transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Op, Writer};
    use super::*;

    fn record(done_ns: u64) -> Record {
        Record {
            submit_ns: 1,
            start_ns: 2,
            done_ns,
            sector: 1 << 40,
            sectors: 8,
            op: Op::MediaWrite,
            member: 3,
            depth: 513,
            flags: super::super::Flags(0x000f_0101),
            part_ns: [1, 2, 3, 4, 5],
        }
    }

    fn trace(records: &[Record]) -> Vec<u8> {
        let mut writer = Writer::new(Vec::new()).expect("memory");
        for record in records {
            writer.add(record).expect("memory");
        }
        writer.finish().expect("memory")
    }

    /// Returns a few bytes per call, as a pipe may.
    struct Trickle<'a>(&'a [u8]);

    impl Read for Trickle<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let count = self.0.len().min(buffer.len()).min(61);
            let (now, later) = self.0.split_at(count);
            buffer[..count].copy_from_slice(now);
            self.0 = later;
            Ok(count)
        }
    }

    #[test]
    fn records_are_read_back_in_short_reads_too() {
        let records: Vec<Record> = (100..10_000).map(record).collect();
        let bytes = trace(&records);
        assert_eq!(bytes.len(), HEADER_BYTES + RECORD_BYTES * records.len());
        let reader = Reader::new(Trickle(&bytes)).expect("a trace");
        let read: Result<Vec<Record>, _> = reader.collect();
        assert_eq!(read.expect("records"), records);
    }

    #[test]
    fn the_bytes_are_those_that_the_driver_writes() {
        let bytes = record(1_000).to_bytes();
        let mut expected = [0_u8; RECORD_BYTES];
        expected[0] = 1;
        expected[8] = 2;
        expected[16..18].copy_from_slice(&[0xe8, 3]);
        expected[29] = 1;
        expected[32] = 8;
        expected[36..44].copy_from_slice(&[5, 3, 1, 2, 1, 1, 0xf, 0]);
        for part in 0..5 {
            expected[48 + 8 * part] = part as u8 + 1;
        }
        assert_eq!(bytes, expected);
    }

    #[test]
    fn an_incomplete_last_record_is_reported_and_those_before_it_are_read() {
        let bytes = trace(&[record(100), record(200)]);
        let mut reader = Reader::new(&bytes[..bytes.len() - 1]).expect("a trace");
        assert_eq!(reader.by_ref().count(), 1);
        assert_eq!(
            (reader.records(), reader.torn_bytes()),
            (1, RECORD_BYTES - 1)
        );
        let mut whole = Reader::new(&bytes[..]).expect("a trace");
        assert_eq!(whole.by_ref().count(), 2);
        assert_eq!(whole.torn_bytes(), 0);
    }

    #[test]
    fn a_foreign_file_a_torn_header_and_another_version_are_refused() {
        let bytes = trace(&[]);
        let open = |bytes: &[u8]| Reader::new(bytes).err();
        assert!(matches!(open(&[]), Some(DiskTraceError::Foreign)));
        assert!(matches!(open(&bytes[..15]), Some(DiskTraceError::Foreign)));
        assert!(matches!(open(&[7; 400]), Some(DiskTraceError::Foreign)));
        let mut newer = bytes.clone();
        newer[8] = 2;
        assert!(matches!(
            open(&newer),
            Some(DiskTraceError::Version {
                version: 2,
                record_bytes: 96
            })
        ));
        let mut wider = bytes;
        wider[12] = 104;
        assert!(matches!(open(&wider), Some(DiskTraceError::Version { .. })));
    }

    #[test]
    fn an_invalid_record_is_refused_by_its_number() {
        let refused = |change: &dyn Fn(&mut [u8])| {
            let mut bytes = trace(&[record(100), record(200)]);
            change(&mut bytes[HEADER_BYTES + RECORD_BYTES..]);
            match Reader::new(&bytes[..]).expect("a trace").last() {
                Some(Err(DiskTraceError::Record { number: 1, problem })) => problem,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(refused(&|it| it[36] = 6), "is of an unknown kind");
        assert_eq!(refused(&|it| it[16] = 99), "ends before the one before it");
        assert_eq!(refused(&|it| it[16] = 1), "ends before it began");
        let parts = "has parts that take longer than the request";
        assert_eq!(refused(&|it| it[56] = 200), parts);
        assert_eq!(refused(&|it| it[48..88].fill(0xff)), parts);
        assert_eq!(
            refused(&|it| it[24..32].fill(0xff)),
            "has a sector beyond the 64-bit range"
        );
    }
}
