//! The file of a log: a head in JSON, requests and blocks, each block once, in a compressed stream
//! that ends with its checksum.
//!
//! ```text
//!     "fslabdsk"  version: u32
//!     zlib stream:  bytes of the head: u32  the head
//!                   requests: u64  blocks: u64
//!                   a request:  kind: u8  fua: u8  0: u16  sectors: u32  sector, submit_ns,
//!                               done_ns: u64  and of a write its blocks: u32 each
//!                   a block:    bytes: u16  data
//! ```
//! All numbers are little endian.

use std::io::{self, BufReader, Read, Write};

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;

use super::contents::SECTOR_BYTES;
use crate::contents::BlockLists;
use crate::log::{WRITE_SECTORS_MAX, ensure_sound, has_bytes_of};
use crate::{
    BLOCK_BYTES, BlockId, BlockList, Contents, DiskLog, LogError, LogHead, LogOutline, LogRequest,
    RequestKind,
};

const MAGIC: &[u8; 8] = b"fslabdsk";
const VERSION: u32 = 1;
/// Bytes that are decompressed at once: most fields have a few.
const BUFFER_BYTES: usize = 64 << 10;
/// Data that any file may have, however small it is.
const SMALL_DATA_BYTES: u64 = 256 << 20;
/// Most bytes of data for each byte of the file. What writes hold is random, or metadata of which
/// each block is another: it is not compressed as much.
const DATA_RATIO: u64 = 100;

/// What a log has too many of.
const WRITTEN_BLOCKS: &str = "more blocks of 4 KiB in its writes";
const DATA_BYTES: &str = "more bytes of different data";

/// What a reader takes at most. A file of some MB decompresses to a thousand times as much, so all
/// that it may fill memory with has a limit.
#[derive(Clone, Copy, Debug)]
pub struct LogLimits {
    pub head_bytes: u32,
    pub requests: u64,
    /// Blocks of all writes, a block as often as it is written.
    pub written_blocks: u64,
    /// Different blocks of data.
    pub blocks: u64,
    /// Bytes of these blocks, which are in memory unless an outline is read.
    pub data_bytes: u64,
}

impl Default for LogLimits {
    /// A head of 16 MiB, 4 Mi requests of 128 GiB, and 4 GiB of data.
    fn default() -> Self {
        Self {
            head_bytes: 16 << 20,
            requests: 4 << 20,
            written_blocks: 32 << 20,
            blocks: 1 << 20,
            data_bytes: 4 << 30,
        }
    }
}

impl LogLimits {
    /// The limits for a file of so many bytes, on a machine with so much memory left: its data
    /// takes half of that at most, and no more than what such a file has if it is no bomb.
    pub fn of_file(file_bytes: u64, memory_left_bytes: u64) -> Self {
        let all = Self::default();
        let honest = file_bytes.saturating_mul(DATA_RATIO).max(SMALL_DATA_BYTES);
        Self {
            data_bytes: all.data_bytes.min(honest).min(memory_left_bytes / 2),
            ..all
        }
    }
}

/// Writes a log.
///
/// # Errors
/// `Io`; `Request` and `TooLarge` for a log that a reader would refuse.
pub fn write_log(log: &DiskLog, mut to: impl Write) -> Result<(), LogError> {
    log.ensure_sound()?;
    let head = serde_json::to_vec(&log.head)?;
    let limits = LogLimits::default();
    let found = head.len() as u64;
    ensure_below("a longer head", found, limits.head_bytes.into())?;
    ensure_below("more requests", log.requests.len() as u64, limits.requests)?;
    let written = log.contents.written_blocks() as u64;
    ensure_below(WRITTEN_BLOCKS, written, limits.written_blocks)?;
    ensure_below("more blocks", log.contents.len() as u64, limits.blocks)?;
    let head_bytes = head.len() as u32;
    let mut start = MAGIC.to_vec();
    start.extend(VERSION.to_le_bytes());
    to.write_all(&start).map_err(LogError::writing)?;
    let mut stream = ZlibEncoder::new(to, Compression::fast());
    let head = [&head_bytes.to_le_bytes(), &head[..]].concat();
    let written = stream.write_all(&head);
    written
        .and_then(|()| write_body(log, &mut stream))
        .and_then(|()| stream.finish()?.flush())
        .map_err(LogError::writing)
}

fn write_body(log: &DiskLog, to: &mut impl Write) -> io::Result<()> {
    to.write_all(&(log.requests.len() as u64).to_le_bytes())?;
    to.write_all(&(log.contents.len() as u64).to_le_bytes())?;
    for request in &log.requests {
        let kind: u8 = match request.kind {
            RequestKind::Write => 0,
            RequestKind::Flush => 1,
            RequestKind::Discard => 2,
        };
        to.write_all(&[kind, u8::from(request.fua), 0, 0])?;
        to.write_all(&request.sectors.to_le_bytes())?;
        for number in [request.sector, request.submit_ns, request.done_ns] {
            to.write_all(&number.to_le_bytes())?;
        }
        for block in log.contents.list(request.blocks) {
            to.write_all(&block.0.to_le_bytes())?;
        }
    }
    for block in log.contents.iter() {
        let bytes = u16::try_from(block.len()).map_err(io::Error::other)?;
        to.write_all(&bytes.to_le_bytes())?;
        to.write_all(block)?;
    }
    Ok(())
}

/// Reads a log.
///
/// # Errors
/// `Foreign`, `Version`, `TooLarge` for one beyond the limits, `Damaged`, `Request`, `Io`.
pub fn read_log(from: impl Read, limits: LogLimits) -> Result<DiskLog, LogError> {
    let mut opened = Opened::read(from, limits)?;
    let mut contents = Contents::of_lists(std::mem::take(&mut opened.lists));
    opened.each_block(limits, |number, block| {
        // A block that comes twice would be a way to fill memory with little data.
        let id = contents.add(block);
        id.is_some_and(|id| u64::from(id.0) == number)
    })?;
    let log = DiskLog {
        head: opened.head,
        requests: opened.requests,
        contents,
    };
    log.ensure_sound()?;
    Ok(log)
}

/// Reads a log and checks it as [`read_log`] does, but for equal blocks, and keeps no data: of a
/// log with 4 GiB of it, this takes what its requests take.
pub fn read_outline(from: impl Read, limits: LogLimits) -> Result<LogOutline, LogError> {
    let mut opened = Opened::read(from, limits)?;
    let mut lengths: Vec<u16> = Vec::new();
    opened.each_block(limits, |_, block| {
        lengths.push(block.len() as u16);
        true
    })?;
    let lists = &opened.lists;
    ensure_sound(&opened.head, &opened.requests, |request| {
        has_bytes_of(request, lists.get(request.blocks), |block| {
            lengths.get(block.0 as usize).copied().unwrap_or(0).into()
        })
    })?;
    Ok(LogOutline {
        head: opened.head,
        requests: opened.requests,
    })
}

/// A log that is read up to its data.
struct Opened<R: Read> {
    head: LogHead,
    requests: Vec<LogRequest>,
    lists: BlockLists,
    blocks: u64,
    stream: BufReader<ZlibDecoder<R>>,
}

impl<R: Read> Opened<R> {
    fn read(mut from: R, limits: LogLimits) -> Result<Self, LogError> {
        let mut start = [0; 12];
        from.read_exact(&mut start)
            .map_err(|error| match error.kind() {
                io::ErrorKind::UnexpectedEof => LogError::Foreign,
                _ => LogError::reading(error),
            })?;
        if &start[..8] != MAGIC {
            return Err(LogError::Foreign);
        }
        let version = u32::from_le_bytes(std::array::from_fn(|index| start[8 + index]));
        if version != VERSION {
            return Err(LogError::Version { version });
        }
        let mut stream = BufReader::with_capacity(BUFFER_BYTES, ZlibDecoder::new(from));
        let head_bytes = u32::from_le_bytes(take(&mut stream)?);
        ensure_below("a longer head", head_bytes.into(), limits.head_bytes.into())?;
        let mut head = vec![0; head_bytes as usize];
        stream.read_exact(&mut head).map_err(LogError::reading)?;
        let head: LogHead = serde_json::from_slice(&head)?;
        let (count, blocks) = (take_u64(&mut stream)?, take_u64(&mut stream)?);
        ensure_below("more requests", count, limits.requests)?;
        ensure_below("more blocks", blocks, limits.blocks)?;
        // Memory is taken as data arrives, and not by a number that the file states.
        let mut requests = Vec::new();
        let mut lists = BlockLists::default();
        let mut written = 0;
        for number in 0..count {
            let request = take_request(&mut stream, number)?;
            let sectors = match request.kind {
                RequestKind::Write => u64::from(request.sectors),
                RequestKind::Flush | RequestKind::Discard => 0,
            };
            let own = (sectors * SECTOR_BYTES).div_ceil(BLOCK_BYTES as u64);
            written += own;
            ensure_below(WRITTEN_BLOCKS, written, limits.written_blocks)?;
            let blocks = take_blocks(&mut stream, own, &mut lists)?;
            requests.push(LogRequest { blocks, ..request });
        }
        Ok(Self {
            head,
            requests,
            lists,
            blocks,
            stream,
        })
    }

    /// Reads the data to its end; `take` gets each block with its number, and says whether it may
    /// be there.
    fn each_block(
        &mut self,
        limits: LogLimits,
        mut take_block: impl FnMut(u64, &[u8]) -> bool,
    ) -> Result<(), LogError> {
        let mut block = [0; BLOCK_BYTES];
        let mut total = 0;
        for number in 0..self.blocks {
            let bytes = u16::from_le_bytes(take(&mut self.stream)?) as usize;
            if !(1..=BLOCK_BYTES).contains(&bytes) {
                return Err(LogError::Damaged);
            }
            total += bytes as u64;
            ensure_below(DATA_BYTES, total, limits.data_bytes)?;
            let block = &mut block[..bytes];
            self.stream.read_exact(block).map_err(LogError::reading)?;
            if !take_block(number, block) {
                return Err(LogError::Damaged);
            }
        }
        // The checksum is compared at the end of the stream, which has nothing else.
        let mut rest = [0; 1];
        match self.stream.read(&mut rest).map_err(LogError::reading)? {
            0 => Ok(()),
            _ => Err(LogError::Damaged),
        }
    }
}

/// A request without its blocks, which follow it.
fn take_request(from: &mut impl Read, number: u64) -> Result<LogRequest, LogError> {
    let fault = |problem| LogError::Request { number, problem };
    let [kind, fua, _, _] = take(from)?;
    let sectors = u32::from_le_bytes(take(from)?);
    let [sector, submit_ns, done_ns] = [take_u64(from)?, take_u64(from)?, take_u64(from)?];
    let kind = match kind {
        0 if sectors > WRITE_SECTORS_MAX => return Err(fault("is too long")),
        0 => RequestKind::Write,
        1 => RequestKind::Flush,
        2 => RequestKind::Discard,
        _ => return Err(fault("is of an unknown kind")),
    };
    Ok(LogRequest {
        kind,
        blocks: BlockList::default(),
        sector,
        sectors,
        submit_ns,
        done_ns,
        fua: fua != 0,
    })
}

fn take_blocks(
    from: &mut impl Read,
    count: u64,
    lists: &mut BlockLists,
) -> Result<BlockList, LogError> {
    let mut failed = Ok(());
    let blocks = (0..count).map_while(|_| match take(from) {
        Ok(bytes) => Some(BlockId(u32::from_le_bytes(bytes))),
        Err(error) => {
            failed = Err(error);
            None
        }
    });
    let list = lists.add(blocks);
    failed?;
    list.ok_or(LogError::TooLarge {
        what: WRITTEN_BLOCKS,
        limit: u64::from(u32::MAX),
    })
}

fn take<const N: usize>(from: &mut impl Read) -> Result<[u8; N], LogError> {
    let mut bytes = [0; N];
    from.read_exact(&mut bytes).map_err(LogError::reading)?;
    Ok(bytes)
}

fn take_u64(from: &mut impl Read) -> Result<u64, LogError> {
    take(from).map(u64::from_le_bytes)
}

fn ensure_below(what: &'static str, found: u64, limit: u64) -> Result<(), LogError> {
    match found > limit {
        true => Err(LogError::TooLarge { what, limit }),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    pub(crate) fn small() -> DiskLog {
        let mut contents = Contents::default();
        let first = contents.add(&[1; 4096]).expect("room");
        let second = contents.add(&[2; 512]).expect("room");
        let both = contents.add_list([first, second]).expect("room");
        let one = contents.add_list([first]).expect("room");
        let none = BlockList::default();
        let request = |kind, blocks, sector, sectors, submit_ns| LogRequest {
            kind,
            blocks,
            sector,
            sectors,
            submit_ns,
            done_ns: submit_ns + 5,
            fua: sector == 16,
        };
        DiskLog {
            head: LogHead {
                subject: "ext4".into(),
                lab: "0123".into(),
                disk: "hdd-7200-2002".into(),
                sectors: 64,
                volatile_cache: true,
                phases: Vec::new(),
                scripts: Vec::new(),
                databases: Vec::new(),
            },
            requests: vec![
                request(RequestKind::Write, both, 0, 9, 1),
                request(RequestKind::Flush, none, 0, 0, 10),
                request(RequestKind::Write, one, 16, 8, 20),
                request(RequestKind::Discard, none, 0, 64, 30),
            ],
            contents,
        }
    }

    fn bytes(log: &DiskLog) -> Vec<u8> {
        let mut bytes = Vec::new();
        write_log(log, &mut bytes).expect("written");
        bytes
    }

    #[test]
    fn a_log_is_read_as_it_was_written() {
        let log = small();
        let bytes = bytes(&log);
        let found = read_log(&bytes[..], LogLimits::default()).expect("read");
        assert!(found == log);
        let outline = read_outline(&bytes[..], LogLimits::default()).expect("read");
        assert_eq!(outline.head, log.head);
        assert_eq!(outline.requests, log.requests);
    }

    #[test]
    fn a_log_that_no_disk_can_have_is_not_written() {
        let mut log = small();
        log.requests[0].sector = 60;
        let found = write_log(&log, Vec::new());
        assert!(matches!(found, Err(LogError::Request { number: 0, .. })));
    }

    #[test]
    fn limits_are_kept() {
        let bytes = bytes(&small());
        let all = LogLimits::default();
        let few = [
            LogLimits {
                head_bytes: 8,
                ..all
            },
            LogLimits { requests: 3, ..all },
            LogLimits {
                written_blocks: 2,
                ..all
            },
            LogLimits { blocks: 1, ..all },
            LogLimits {
                data_bytes: 4600,
                ..all
            },
        ];
        for limits in few {
            let found = read_log(&bytes[..], limits);
            assert!(matches!(found, Err(LogError::TooLarge { .. })), "{found:?}");
        }
    }

    /// A file of some MB whose blocks are nearly empty took gigabytes.
    #[test]
    fn the_data_of_a_small_file_and_of_a_small_machine_is_limited() {
        let bytes_of = |file, memory| LogLimits::of_file(file, memory).data_bytes;
        assert_eq!(bytes_of(1000, u64::MAX), 256 << 20);
        assert_eq!(bytes_of(5 << 20, u64::MAX), 500 << 20);
        assert_eq!(bytes_of(1 << 30, u64::MAX), 4 << 30);
        assert_eq!(bytes_of(1 << 30, 1 << 30), 512 << 20);
        // An outline has none of it in memory.
        let bytes = bytes(&small());
        let few = LogLimits {
            data_bytes: 4600,
            ..LogLimits::default()
        };
        let error = read_log(&bytes[..], few).expect_err("refused").to_string();
        assert!(error.ends_with("than the limit of 4600"), "{error}");
    }

    #[test]
    fn another_file_and_another_version_are_named() {
        assert!(matches!(
            read_log(&b"a text that is no log"[..], LogLimits::default()),
            Err(LogError::Foreign)
        ));
        let mut bytes = bytes(&small());
        bytes[8] = 9;
        let found = read_log(&bytes[..], LogLimits::default());
        assert!(matches!(found, Err(LogError::Version { version: 9 })));
    }

    proptest! {
        /// No damage panics, and none is taken for the log.
        #[test]
        fn damage_is_found(at in 0_usize..10_000, by in 1_u8..=255, cut in any::<bool>()) {
            let log = small();
            let mut damaged = bytes(&log);
            let at = at % damaged.len();
            if cut { damaged.truncate(at) } else { damaged[at] ^= by }
            let found = read_log(&damaged[..], LogLimits::default());
            prop_assert!(found.map_or(true, |found| found == log));
        }
    }
}
