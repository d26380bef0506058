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

use std::io::{self, Read, Write};

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;

use crate::log::SECTOR_BYTES;
use crate::{BLOCK_BYTES, BlockId, Contents, DiskLog, LogError, LogHead, LogRequest, RequestKind};

const MAGIC: &[u8; 8] = b"fslabdsk";
const VERSION: u32 = 1;
/// The longest request: more than any disk profile has.
const SECTORS_MAX: u32 = 1 << 17;

/// What a reader takes at most.
#[derive(Clone, Copy, Debug)]
pub struct LogLimits {
    /// Bytes of the head.
    pub head_bytes: u32,
    /// Requests.
    pub requests: u64,
    /// Blocks of data, which are in memory.
    pub blocks: u64,
}

impl Default for LogLimits {
    /// A head of 16 MiB, 4 Mi requests, and 4 GiB of data.
    fn default() -> Self {
        Self {
            head_bytes: 16 << 20,
            requests: 4 << 20,
            blocks: 1 << 20,
        }
    }
}

/// Writes a log.
///
/// # Errors
/// `Io`; `Request` for a log that a reader would refuse.
pub fn write_log(log: &DiskLog, mut to: impl Write) -> Result<(), LogError> {
    log.ensure_sound()?;
    let head = serde_json::to_vec(&log.head)?;
    let head_bytes = u32::try_from(head.len()).map_err(|_| LogError::TooLarge {
        what: "a longer head",
        limit: u64::from(u32::MAX),
    })?;
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
        let (kind, blocks): (u8, &[BlockId]) = match &request.kind {
            RequestKind::Write(blocks) => (0, blocks),
            RequestKind::Flush => (1, &[]),
            RequestKind::Discard => (2, &[]),
        };
        to.write_all(&[kind, u8::from(request.fua), 0, 0])?;
        to.write_all(&request.sectors.to_le_bytes())?;
        for number in [request.sector, request.submit_ns, request.done_ns] {
            to.write_all(&number.to_le_bytes())?;
        }
        for block in blocks {
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
pub fn read_log(mut from: impl Read, limits: LogLimits) -> Result<DiskLog, LogError> {
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
    let mut stream = ZlibDecoder::new(from);
    let head_bytes = u32::from_le_bytes(take(&mut stream)?);
    ensure_below("a longer head", head_bytes.into(), limits.head_bytes.into())?;
    let mut head = vec![0; head_bytes as usize];
    stream.read_exact(&mut head).map_err(LogError::reading)?;
    let head: LogHead = serde_json::from_slice(&head)?;
    let (requests, contents) = read_body(&mut stream, limits)?;
    // The checksum is compared at the end of the stream, which has nothing else.
    let mut rest = [0; 1];
    if stream.read(&mut rest).map_err(LogError::reading)? > 0 {
        return Err(LogError::Damaged);
    }
    let log = DiskLog {
        head,
        requests,
        contents,
    };
    log.ensure_sound()?;
    Ok(log)
}

fn read_body(
    from: &mut impl Read,
    limits: LogLimits,
) -> Result<(Vec<LogRequest>, Contents), LogError> {
    let (count, blocks) = (take_u64(from)?, take_u64(from)?);
    ensure_below("more requests", count, limits.requests)?;
    ensure_below("more blocks", blocks, limits.blocks)?;
    // Memory is taken as data arrives, and not by a number that the file states.
    let mut requests = Vec::new();
    for number in 0..count {
        requests.push(take_request(from, number)?);
    }
    let mut contents = Contents::default();
    for number in 0..blocks {
        let bytes = u16::from_le_bytes(take(from)?) as usize;
        if !(1..=BLOCK_BYTES).contains(&bytes) {
            return Err(LogError::Damaged);
        }
        let mut block = vec![0; bytes];
        from.read_exact(&mut block).map_err(LogError::reading)?;
        // A block that comes twice would be a way to fill memory with little data.
        if contents
            .add(&block)
            .is_none_or(|id| u64::from(id.0) != number)
        {
            return Err(LogError::Damaged);
        }
    }
    Ok((requests, contents))
}

fn take_request(from: &mut impl Read, number: u64) -> Result<LogRequest, LogError> {
    let fault = |problem| LogError::Request { number, problem };
    let [kind, fua, _, _] = take(from)?;
    let sectors = u32::from_le_bytes(take(from)?);
    let [sector, submit_ns, done_ns] = [take_u64(from)?, take_u64(from)?, take_u64(from)?];
    let kind = match kind {
        0 if sectors > SECTORS_MAX => return Err(fault("is too long")),
        0 => {
            let bytes = u64::from(sectors) * SECTOR_BYTES;
            let mut blocks = Vec::new();
            for _ in 0..bytes.div_ceil(BLOCK_BYTES as u64) {
                blocks.push(BlockId(u32::from_le_bytes(take(from)?)));
            }
            RequestKind::Write(blocks)
        }
        1 => RequestKind::Flush,
        2 => RequestKind::Discard,
        _ => return Err(fault("is of an unknown kind")),
    };
    Ok(LogRequest {
        kind,
        sector,
        sectors,
        submit_ns,
        done_ns,
        fua: fua != 0,
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
        let request = |kind, sector, sectors, submit_ns| LogRequest {
            kind,
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
                request(RequestKind::Write(vec![first, second]), 0, 9, 1),
                request(RequestKind::Flush, 0, 0, 10),
                request(RequestKind::Write(vec![first]), 16, 8, 20),
                request(RequestKind::Discard, 0, 64, 30),
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
        assert_eq!(
            read_log(&bytes(&log)[..], LogLimits::default()).expect("read"),
            log
        );
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
            LogLimits { blocks: 1, ..all },
        ];
        for limits in few {
            let found = read_log(&bytes[..], limits);
            assert!(matches!(found, Err(LogError::TooLarge { .. })), "{found:?}");
        }
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
