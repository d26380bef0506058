//! Joins a recording, which has the data, and the trace of the disk, which has the times.
//!
//! Data moves when a request is submitted, so a recording is in the order of submission; the trace
//! is in the order of completion. A request is one record of the trace, and one entry or several
//! that continue each other.

use std::collections::VecDeque;
use std::io::Read;

use fslab_disk::trace::{Flags, Op, Reader, Record};

use crate::{
    BLOCK_BYTES, BlockId, BlockList, Contents, DiskLog, LogError, LogHead, LogRequest,
    RecordedEntry, RecordedKind, Recording, RequestKind,
};

/// The log of a disk, of its recording and its trace.
///
/// # Errors
/// `Unlike` if one has a write or a discard that the other has not, or of another length; those of
/// both readers; `Request` for a request that cannot be.
pub fn join<A: Read, B: Read>(
    head: LogHead,
    recording: Recording<A>,
    trace: Reader<B>,
) -> Result<DiskLog, LogError> {
    let mut records = Vec::new();
    for record in trace {
        let record = record?;
        if matches!(record.op, Op::Write | Op::Flush | Op::Discard) {
            records.push(record);
        }
    }
    // Stable: the order of completion where several were submitted at one time.
    records.sort_by_key(|record| record.submit_ns);
    let mut joiner = Joiner {
        recording,
        requests: Vec::with_capacity(records.len()),
        contents: Contents::default(),
    };
    for at_one_time in records.chunk_by(|one, other| one.submit_ns == other.submit_ns) {
        joiner.add(at_one_time)?;
    }
    if let Some(entry) = joiner.recording.next_entry()? {
        let text = format!("a write to sector {} is in no request", entry.sector);
        return Err(LogError::Unlike(text));
    }
    let log = DiskLog {
        head,
        requests: joiner.requests,
        contents: joiner.contents,
    };
    log.ensure_sound()?;
    Ok(log)
}

struct Joiner<R> {
    recording: Recording<R>,
    requests: Vec<LogRequest>,
    contents: Contents,
}

impl<R: Read> Joiner<R> {
    /// Adds requests that were submitted at one time, in the order of the recording.
    fn add(&mut self, records: &[Record]) -> Result<(), LogError> {
        let mut waiting: VecDeque<&Record> = records
            .iter()
            .filter(|record| record.op != Op::Flush)
            .collect();
        while let Some(first) = waiting.front() {
            let Some(entry) = self.recording.next_entry()? else {
                let text = format!(
                    "the data of the request at sector {} is missing",
                    first.sector
                );
                return Err(LogError::Unlike(text));
            };
            let is_of = |record: &&Record| {
                let is_write = record.op == Op::Write;
                record.sector == entry.sector
                    && is_write == matches!(entry.kind, RecordedKind::Write(_))
                    && u64::from(record.sectors) >= entry.sectors
            };
            let place = waiting.iter().position(is_of);
            let Some(record) = place.and_then(|place| waiting.remove(place)) else {
                let text = format!("a write to sector {} is in no request", entry.sector);
                return Err(LogError::Unlike(text));
            };
            let (kind, blocks) = self.kind_of(record, entry)?;
            self.requests.push(request(record, kind, blocks));
        }
        let flushes = records.iter().filter(|record| record.op == Op::Flush);
        let flushes =
            flushes.map(|record| request(record, RequestKind::Flush, BlockList::default()));
        self.requests.extend(flushes);
        Ok(())
    }

    /// The data of a request whose first entry is `first`, with the entries that continue it.
    fn kind_of(
        &mut self,
        record: &Record,
        first: RecordedEntry,
    ) -> Result<(RequestKind, BlockList), LogError> {
        let unlike = || {
            let text = format!(
                "the data of the request at sector {} ends early",
                record.sector
            );
            LogError::Unlike(text)
        };
        let mut covered = first.sectors;
        let RecordedKind::Write(mut data) = first.kind else {
            return match covered == u64::from(record.sectors) {
                true => Ok((RequestKind::Discard, BlockList::default())),
                false => Err(unlike()),
            };
        };
        while covered < u64::from(record.sectors) {
            let next = self.recording.next_entry()?.ok_or_else(unlike)?;
            let RecordedKind::Write(more) = next.kind else {
                return Err(unlike());
            };
            if next.sector != record.sector + covered {
                return Err(unlike());
            }
            covered += next.sectors;
            data.extend(more);
        }
        if covered != u64::from(record.sectors) {
            return Err(unlike());
        }
        let blocks: Option<Vec<BlockId>> = data
            .chunks(BLOCK_BYTES)
            .map(|block| self.contents.add(block))
            .collect();
        let too_many = LogError::TooLarge {
            what: "more blocks",
            limit: u64::from(u32::MAX),
        };
        let list = blocks.and_then(|blocks| self.contents.add_list(blocks));
        Ok((RequestKind::Write, list.ok_or(too_many)?))
    }
}

fn request(record: &Record, kind: RequestKind, blocks: BlockList) -> LogRequest {
    let is_flush = kind == RequestKind::Flush;
    LogRequest {
        kind,
        blocks,
        sector: if is_flush { 0 } else { record.sector },
        sectors: if is_flush { 0 } else { record.sectors },
        submit_ns: record.submit_ns,
        done_ns: record.done_ns,
        fua: record.op == Op::Write && record.flags.contains(Flags::FUA),
    }
}

#[cfg(test)]
mod tests {
    use fslab_disk::trace::Writer;

    use super::*;

    pub(super) fn head() -> LogHead {
        LogHead {
            subject: "ext4".into(),
            lab: "lab".into(),
            disk: "hdd".into(),
            sectors: 1000,
            volatile_cache: true,
            phases: Vec::new(),
            scripts: Vec::new(),
            databases: Vec::new(),
        }
    }

    fn record(op: Op, submit_ns: u64, done_ns: u64, place: (u64, u32)) -> Record {
        Record {
            submit_ns,
            start_ns: submit_ns,
            done_ns,
            sector: place.0,
            sectors: place.1,
            op,
            ..Record::default()
        }
    }

    fn entry(kind: &[u8; 4], sector: u64, data: &[u8], sectors: u64) -> Vec<u8> {
        let mut text = kind.to_vec();
        text.extend([0; 4]);
        text.extend((sector * 512).to_le_bytes());
        text.extend((sectors * 512).to_le_bytes());
        text.extend(data);
        text
    }

    fn joined(records: &[Record], entries: &[Vec<u8>]) -> Result<DiskLog, LogError> {
        let mut writer = Writer::new(Vec::new()).expect("memory");
        for record in records {
            writer.add(record).expect("memory");
        }
        let trace = writer.finish().expect("memory");
        let reader = Reader::new(&trace[..]).expect("a trace");
        join(head(), Recording::new(&entries.concat()[..]), reader)
    }

    /// The second write completes first, and both were submitted at one time.
    #[test]
    fn requests_get_their_data_in_the_order_of_submission() {
        let records = [
            record(Op::Write, 10, 20, (8, 1)),
            record(Op::Write, 10, 30, (4, 2)),
            record(Op::Flush, 30, 40, (0, 0)),
            record(Op::Discard, 41, 50, (100, 8)),
        ];
        let entries = [
            entry(b"WRIT", 4, &[4; 512], 1),
            entry(b"WRIT", 5, &[5; 512], 1),
            entry(b"WRIT", 8, &[8; 512], 1),
            entry(b"HOLE", 100, &[], 8),
        ];
        let log = joined(&records, &entries).expect("joined");
        let places: Vec<(u64, u32)> = log
            .requests
            .iter()
            .map(|it| (it.sector, it.sectors))
            .collect();
        assert_eq!(places, [(4, 2), (8, 1), (0, 0), (100, 8)]);
        assert_eq!(log.requests[0].kind, RequestKind::Write);
        let blocks = log.contents.list(log.requests[0].blocks);
        let data = log.contents.get(blocks[0]).expect("a block");
        assert_eq!([&data[..512], &data[512..]], [&[4; 512], &[5; 512]]);
        assert_eq!(log.requests[3].kind, RequestKind::Discard);
    }

    #[test]
    fn a_write_without_its_data_and_data_without_a_request_are_errors() {
        let records = [record(Op::Write, 10, 20, (8, 2))];
        let whole = entry(b"WRIT", 8, &[8; 1024], 2);
        assert!(joined(&records, std::slice::from_ref(&whole)).is_ok());
        let cases = [
            vec![],
            vec![entry(b"WRIT", 8, &[8; 512], 1)],
            vec![whole.clone(), whole.clone()],
            vec![entry(b"WRIT", 9, &[8; 512], 1)],
            vec![entry(b"HOLE", 8, &[], 2)],
        ];
        for entries in cases {
            let found = joined(&records, &entries);
            assert!(matches!(found, Err(LogError::Unlike(_))), "{found:?}");
        }
    }

    #[test]
    fn a_request_beyond_the_disk_is_refused() {
        let records = [record(Op::Write, 1, 2, (999, 2))];
        let found = joined(&records, &[entry(b"WRIT", 999, &[1; 1024], 2)]);
        assert!(matches!(found, Err(LogError::Request { .. })), "{found:?}");
    }
}
