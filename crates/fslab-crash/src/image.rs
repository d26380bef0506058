//! What a disk holds in a state, as pieces to be written one after the other.

use crate::log::SECTOR_BYTES;
use crate::{BLOCK_BYTES, CrashState, DiskLog, RequestKind};

/// Data at a place of the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// These bytes from this sector on.
    Data {
        /// First sector.
        sector: u64,
        /// Its bytes, of full sectors.
        bytes: &'a [u8],
    },
    /// Zeros, by a discard.
    Zeros {
        /// First sector.
        sector: u64,
        /// Number of sectors.
        sectors: u64,
    },
}

/// The pieces that the disk kept, in the order in which they were submitted: a later one replaces
/// an earlier one.
pub fn pieces<'a>(log: &'a DiskLog, state: &CrashState) -> impl Iterator<Item = Piece<'a>> {
    let kept = state.kept(log);
    kept.flat_map(move |(request, sectors)| {
        let first = request.sector;
        let (blocks, zeros) = match &request.kind {
            RequestKind::Write(blocks) => (&blocks[..], None),
            RequestKind::Discard => (
                &[][..],
                Some(Piece::Zeros {
                    sector: first,
                    sectors: u64::from(sectors),
                }),
            ),
            RequestKind::Flush => (&[][..], None),
        };
        let per_block = BLOCK_BYTES as u64 / SECTOR_BYTES;
        let data = (0..).zip(blocks).filter_map(move |(number, block)| {
            let done = number * per_block;
            let left = u64::from(sectors)
                .checked_sub(done)
                .filter(|left| *left > 0)?;
            let bytes = log.contents.get(*block)?;
            let wanted = usize::try_from(left.saturating_mul(SECTOR_BYTES)).unwrap_or(usize::MAX);
            Some(Piece::Data {
                sector: first + done,
                bytes: &bytes[..bytes.len().min(wanted)],
            })
        });
        data.chain(zeros)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Contents, DiskCache, LogHead, LogRequest, Moment};

    /// Two writes of ten sectors to one place, a flush between them, and a discard of two sectors.
    fn log() -> DiskLog {
        let mut contents = Contents::default();
        let mut write = |byte: u8, submit_ns| {
            let blocks = [&[byte; 4096][..], &[byte; 1024]];
            let blocks = blocks.map(|block| contents.add(block).expect("room"));
            LogRequest {
                kind: RequestKind::Write(blocks.to_vec()),
                sector: 4,
                sectors: 10,
                submit_ns,
                done_ns: submit_ns + 5,
                fua: false,
            }
        };
        let (first, second) = (write(1, 10), write(2, 40));
        let other = |kind, sector, sectors, submit_ns| LogRequest {
            kind,
            sector,
            sectors,
            submit_ns,
            done_ns: submit_ns + 5,
            fua: false,
        };
        DiskLog {
            head: LogHead {
                subject: String::new(),
                lab: String::new(),
                disk: String::new(),
                sectors: 20,
                volatile_cache: true,
                phases: Vec::new(),
                scripts: Vec::new(),
                databases: Vec::new(),
            },
            requests: vec![
                first,
                other(RequestKind::Flush, 0, 0, 20),
                second,
                other(RequestKind::Discard, 4, 2, 50),
            ],
            contents,
        }
    }

    /// The first byte of every sector.
    fn disk(log: &DiskLog, state: &str) -> Vec<u8> {
        let state: CrashState = state.parse().expect("a state");
        let mut disk = vec![0; 20];
        for piece in pieces(log, &state) {
            match piece {
                Piece::Data { sector, bytes } => {
                    for (number, sector_bytes) in bytes.chunks(512).enumerate() {
                        disk[sector as usize + number] = sector_bytes[0];
                    }
                }
                Piece::Zeros { sector, sectors } => {
                    disk[sector as usize..(sector + sectors) as usize].fill(0);
                }
            }
        }
        disk
    }

    /// The ten sectors as they were cut by hand.
    fn expected(ten: [u8; 10]) -> Vec<u8> {
        let mut disk = vec![0; 20];
        disk[4..14].copy_from_slice(&ten);
        disk
    }

    #[test]
    fn a_disk_holds_what_a_hand_cut_log_says() {
        let log = log();
        let cases = [
            ("9", [0; 10]),
            ("10", [1; 10]),
            ("10-0/9", [1, 1, 1, 1, 1, 1, 1, 1, 1, 0]),
            ("49", [2; 10]),
            ("49-2", [1; 10]),
            ("49-2/3", [2, 2, 2, 1, 1, 1, 1, 1, 1, 1]),
            ("60", [0, 0, 2, 2, 2, 2, 2, 2, 2, 2]),
            ("60-2", [0, 0, 1, 1, 1, 1, 1, 1, 1, 1]),
            ("60-3/1", [0, 2, 2, 2, 2, 2, 2, 2, 2, 2]),
            ("60-2..3", [1; 10]),
        ];
        for (state, ten) in cases {
            assert_eq!(disk(&log, state), expected(ten), "{state}");
        }
    }

    /// The planted fault: a disk, or a file system, whose flushes are dropped.
    #[test]
    fn without_its_flushes_nothing_of_a_log_is_durable() {
        let mut log = log();
        assert_eq!(Moment::at(&log, 60, DiskCache::Volatile).pending, [2, 3]);
        log.requests
            .retain(|request| request.kind != RequestKind::Flush);
        assert_eq!(Moment::at(&log, 60, DiskCache::Volatile).pending, [0, 1, 2]);
    }
}
